"""Submissions: folders of files as learning management systems write them, tables of a class from
forms, or one stream of answers.

All of it is untrusted. Nothing raises for the text of a student, and nothing is lost without a note
that says what and why.
"""
