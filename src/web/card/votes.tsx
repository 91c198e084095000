import { sayActor } from "../../core/people/actor.ts";
import type { Read } from "../../core/changes.ts";
import type { Pending } from "../../core/question/question.ts";
import { makeVisible } from "../../core/text/visible.ts";
import { talliesOf } from "../../core/answer/vote.ts";
import { answerWords } from "../answer-words.ts";
import { type Reader, tell } from "../parts/reader.ts";
import { Moment } from "../parts/time.tsx";

/** What the reader and others have agreed to so far, where several have to. */
export function Votes({ reader, read, question }: { reader: Reader; read: Read; question: Pending }) {
  const { votes, approvals } = question;
  const isMine = (vote: (typeof votes)[number]): boolean => sayActor(vote.by) === reader.id;
  const tallies = talliesOf(votes);
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
      {votes.every(isMine) ? null : (
        <div class="banner">
          {tallies.map((tally) => (
            <p>
              {tell(reader, "votes", wordsOf(tally))}
              {tally.map((vote, index) => (
                <>
                  {index === 0 ? " " : ", "}
                  <span>
                    {makeVisible(sayActor(vote.by))} <Moment reader={reader} at={vote.at} />
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
