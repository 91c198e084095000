import { actorName } from "../../core/people/actor.ts";
import type { QuestionSnapshot } from "../../core/changes.ts";
import type { PendingQuestion } from "../../core/question/question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { groupVotes } from "../../core/answer/vote.ts";
import { answerWords } from "../words/answer-words.ts";
import { type PageReader, tell } from "../parts/page-reader.ts";
import { Moment } from "../parts/time.tsx";

/** Votes so far, for a question that needs several people. */
export function Votes({
  reader,
  read,
  question,
}: {
  reader: PageReader;
  read: QuestionSnapshot;
  question: PendingQuestion;
}) {
  const { votes, approvals } = question;
  const isMine = (vote: (typeof votes)[number]) => actorName(vote.by) === reader.id;
  const tallies = groupVotes(votes);
  const own = tallies.find((tally) => tally.some(isMine));
  const wordsOf = ([{ answer }, ...others]: (typeof tallies)[number]) => ({
    answer: answerWords(reader, read.content, answer),
    n: others.length + 1,
    need: approvals.need,
  });
  return (
    <>
      {own ? <p class="banner ok">{tell(reader, "link.voted", wordsOf(own))}</p> : null}
      {approvals.need > 1 && votes.length === 0 ? (
        <p class="banner">{tell(reader, "votes.none", { need: approvals.need })}</p>
      ) : null}
      {question.isUnreachable ? (
        <p class="banner">{tell(reader, "votes.unreachable", { names: approvals.from.map(makeVisible).join(", ") })}</p>
      ) : null}
      {votes.every(isMine) ? null : (
        <div class="banner">
          {tallies.map((tally) => (
            <p>
              {tell(reader, "votes", wordsOf(tally))}
              {tally.map((vote, index) => (
                <>
                  {index === 0 ? " " : ", "}
                  <span>
                    {makeVisible(actorName(vote.by))} <Moment reader={reader} at={vote.at} />
                  </span>
                </>
              ))}
            </p>
          ))}
        </div>
      )}
    </>
  );
}
