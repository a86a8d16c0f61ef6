"""One answer: is it the derivative that was asked for, and if not, which mistake does it show?"""
