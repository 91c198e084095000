import { describe, expect, test } from "vitest";
import type { QuestionId } from "../src/core/id.ts";
import { HOUR_MS } from "../src/core/instant.ts";
import { SYSTEM } from "../src/core/people/actor.ts";
import { ADA } from "./builders.ts";
import { Board } from "./channels/board-channel.ts";
import { Scene } from "./scene.ts";
import { ServedScene } from "./served.ts";
import { type } from "./typed.ts";

/** Lena and mika are in ops, ada is not; each has a chat of their own. */
const PEOPLE = [
  { id: "ada", groups: ["web"] },
  { id: "lena", groups: ["ops"] },
  { id: "mika", groups: ["ops", "web"] },
];

async function aScene() {
  const board = new Board();
  const reach = [{ name: "telegram", person: undefined, isPersonal: true }];
  const scene = new Scene({ rules: { reach }, openChannel: board.open });
  for (const person of PEOPLE) await scene.engine.putPerson({ ...person, version: 0, telegram: person.id }, SYSTEM);
  return scene;
}

/** The ways in which a person answers. */
const DOORS = {
  "on the command line": async (scene: Scene, id: QuestionId, user: string) => {
    const { exit, stderr } = await type(scene, ["answer", id, "1"], { user });
    return exit === 0 ? "taken" : stderr;
  },
  "over REST": async (scene: Scene, id: QuestionId, subject: string) => {
    const served = await ServedScene.start({}, scene);
    try {
      const token = await served.token({ subject });
      const { status, body } = await served.send("POST", `/api/v1/questions/${id}/answer`, {
        token,
        body: { answer: "1" },
      });
      return status === 200 ? "taken" : String(body["detail"]);
    } finally {
      await served.served.close();
    }
  },
};

describe.each(Object.entries(DOORS))("%s", (_door, answer) => {
  test.each(["ops", "@ops"])("a member of %s in approvals.from may answer, and nobody else", async (group) => {
    const scene = await aScene();
    const { question } = await scene.ask({ approvals: { from: [group] } });
    expect(await answer(scene, question.id, "ada")).toContain("This question is for ops. You are ada");
    expect(await answer(scene, question.id, "lena")).toBe("taken");
  });

  test("somebody who is called like the group is no member of it", async () => {
    const scene = await aScene();
    const { question } = await scene.ask({ approvals: { from: ["ops"] } });
    expect(await answer(scene, question.id, "ops")).toContain("This question is for ops");
  });

  test.each(["ops", "@ops"])("everybody may answer what is for %s: `to` routes and restricts nobody", async (group) => {
    for (const person of ["lena", "ada"]) {
      const scene = await aScene();
      const { question } = await scene.ask({ to: [group] });
      expect(await answer(scene, question.id, person)).toBe("taken");
    }
  });

  test.each(["ops", "@ops"])("a member of %s may answer what was escalated to it", async (group) => {
    const scene = await aScene();
    const steps = [{ after: "1h", to: [group] }];
    const { question } = await scene.ask({
      timeout: "1h",
      approvals: { from: ["ada", group] },
      on_timeout: { do: "escalate", steps },
    });
    await scene.pass(HOUR_MS);
    expect((await scene.engine.read(question.id)).question).toMatchObject({ status: "pending", to: ["ops"] });
    expect(await answer(scene, question.id, "mika")).toBe("taken");
  });
});

describe("each member of a group is told:", () => {
  const told = async (scene: Scene, id: QuestionId) =>
    (await scene.engine.read(id)).question.deliveries?.map(({ person }) => person);

  test.each(["ops", "@ops"])("when a question is for %s", async (group) => {
    const scene = await aScene();
    const { question } = await scene.ask({ to: [group] });
    expect(await told(scene, question.id)).toEqual(["lena", "mika"]);
  });

  test("when only the group may approve it", async () => {
    const scene = await aScene();
    const { question } = await scene.ask({ approvals: { from: ["@ops"] } });
    expect(await told(scene, question.id)).toEqual(["lena", "mika"]);
  });

  test("when a question is assigned or escalated to the group, beside those who knew of it", async () => {
    const scene = await aScene();
    const steps = [{ after: "1h", to: ["@web"] }];
    const { question } = await scene.ask({ to: ["lena"], timeout: "1h", on_timeout: { do: "escalate", steps } });
    expect(await told(scene, question.id)).toEqual(["lena"]);
    await scene.pass(HOUR_MS);
    expect(await told(scene, question.id)).toEqual(["lena", "ada", "mika"]);
    const other = await scene.ask({ to: ["ada"] });
    await scene.engine.assign(other.question.id, ["@ops"], ADA);
    expect((await scene.engine.read(other.question.id)).question.to).toEqual(["ops"]);
    expect(await told(scene, other.question.id)).toEqual(["ada", "lena", "mika"]);
  });

  test("when a notification mentions the group", async () => {
    const scene = await aScene();
    const { question } = await scene.ask({ notify: [{ type: "telegram", mention: ["@ops", "somebody outside"] }] });
    expect(await told(scene, question.id)).toEqual(["lena", "mika"]);
  });
});

describe("a name that nobody has", () => {
  test("is refused in approvals.from, since nobody could ever answer", async () => {
    const scene = await aScene();
    const ask = { approvals: { from: ["@opps"] } };
    const message = 'There is no person or group "opps"';
    await expect(scene.ask(ask, undefined, ADA)).rejects.toMatchObject({
      code: "not_found",
      message,
      hint: "Did you mean ops?",
    });
    const refusal: unknown = await scene.ask(ask).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: "not_found", message, hint: expect.not.stringContaining("Did you mean") });
  });

  test("is refused when somebody assigns a question", async () => {
    const scene = await aScene();
    const { question } = await scene.ask();
    await expect(scene.engine.assign(question.id, ["opps"], ADA)).rejects.toMatchObject({ code: "not_found" });
  });

  test("in `to` loses no question: everybody is told", async () => {
    const scene = await aScene();
    const { question } = await scene.ask({ to: ["opps"] });
    expect(question.deliveries?.map(({ person }) => person)).toEqual(["ada", "lena", "mika"]);
  });

  test("is taken where it has a token, or where nobody is listed at all", async () => {
    const scene = await aScene();
    await scene.engine.issueToken({ scope: "human", subject: "guest" }, SYSTEM);
    expect((await scene.ask({ approvals: { from: ["guest"] } })).question.status).toBe("pending");
    expect((await new Scene().ask({ approvals: { from: ["anybody"] } })).question.status).toBe("pending");
  });
});

describe("one name is one thing:", () => {
  test("a person cannot be called like a group, nor a group like a person", async () => {
    const scene = await aScene();
    const person = { id: "ops", version: 0, groups: [] };
    await expect(scene.engine.putPerson(person, SYSTEM)).rejects.toThrow('"ops" is the name of a group');
    const member = { id: "ada", version: 0, groups: ["lena"] };
    await expect(scene.engine.putPerson(member, SYSTEM)).rejects.toThrow('"lena" is the name of a person');
  });
});
