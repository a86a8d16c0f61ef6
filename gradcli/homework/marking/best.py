"""Which of several attempts has most points, where a sheet lets the best one count."""

from __future__ import annotations

from gradcli.base.workers.pools import pool
from gradcli.homework.handed_in.records import InputNote, short
from gradcli.homework.marking.executors import check_answers
from gradcli.homework.marking.marks import result, waits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from gradcli.homework.handed_in.records import Answer, Submissions
    from gradcli.homework.marking.executors import Checked
    from gradcli.homework.sheets.sheet import Sheet


def take_best(sheet: Sheet, submissions: Submissions, seed: int | str, jobs: int,
              scheduler: str | None) -> None:
    """Check all attempts of those who have several, and let the best count, the last of equals.

    Points are compared after what is lost for being late. Where an attempt may have more when a
    person has looked at an answer, that answer is a doubt of the one that counts.
    """
    tried = [(choice, k, choice.answers(k)) for choice in submissions.choices
             for k in range(len(choice.late))]
    owner = {id(answer): at for at, (_, _, answers) in enumerate(tried) for answer in answers}
    least, most = [0.0] * len(tried), [0.0] * len(tried)
    waiting: list[list[Answer]] = [[] for _ in tried]

    def add(outcomes: list[tuple[Answer, Checked]]) -> None:
        for answer, outcome in outcomes:
            problem = sheet[answer.problem]
            one = result(sheet, problem, answer.student, answer.answer, outcome, seed)
            at = owner[id(answer)]
            choice, k, _ = tried[at]
            share = 1 - sheet.late * choice.late[k]
            least[at] += one.score * share
            if waits(problem, one) is not None:
                waiting[at].append(answer)
            most[at] += share * (problem.points if answer in waiting[at] else one.score)

    asked = [answer for _, _, answers in tried for answer in answers
             if answer.answer.strip() or answer.fault is not None]
    with pool(jobs, scheduler, guarded=True) as (executor, workers):
        check_answers(sheet, asked, add, executor=executor, workers=workers, seed=seed)
    for choice in submissions.choices:
        at = [place for place, (other, _, _) in enumerate(tried) if other is choice]
        best = max(at, key=lambda place: (least[place], place))
        choice.take(tried[best][1])
        better = [place for place in at if place != best and most[place] > least[best]]
        for answer in [answer for place in better for answer in waiting[place]]:
            submissions.doubts[choice.student.id, answer.problem] = (
                f"another attempt, which may be better, answers `{short(answer.answer)}`")
        if better:
            submissions.notes.append(InputNote(
                "student", "another attempt may be better than the one that counts: answers in it"
                " wait for a person", student=choice.student.id))
