import type { ChannelResult } from "../../core/channel/channel.ts";
import type { RunProgram } from "../outbound.ts";
import type { Notification, Notifier } from "./notifier.ts";

const NOT_FOUND = 127;

/** A command line that shows a notification, with the variables that carry its text. */
interface ProgramCall {
  argv: readonly string[];
  env?: Readonly<Record<string, string>>;
}

/** How the programs of one desktop show notifications, best first; the first that is installed is used. */
export interface NotificationProgram {
  name: string;
  /** It can show a notification in place of an earlier one of the same group. */
  replaces: boolean;
  call(notification: Notification): ProgramCall;
}

/** Shows notifications with a program of the desktop: it has no buttons, and a click opens the card at most. */
export function programNotifier(programs: readonly NotificationProgram[], run: RunProgram): Notifier {
  const first = async (chosen: readonly NotificationProgram[], notification: Notification): Promise<ChannelResult> => {
    let why = "there is no program that shows notifications";
    for (const program of chosen) {
      const { argv, env = {} } = program.call(notification);
      const { exitCode, stderr } = await run(argv, { env });
      if (exitCode === 0) return { ok: true, outside: program.name };
      why = stderr.trim() || `${program.name} ended with code ${exitCode}`;
      if (exitCode !== NOT_FOUND) break;
    }
    return { ok: false, why };
  };
  return {
    show: (notification) => first(programs, notification),
    replace: (outside, notification) => {
      const program = programs.find(({ name }) => name === outside);
      // Without a way to replace it, every change would be a second notification.
      return program?.replaces ? first([program], notification) : Promise.resolve({ ok: true });
    },
    repeat: (_outside, notification) => first(programs, notification),
    verify: () => Promise.resolve("notifications of this desktop, without buttons"),
  };
}

/** terminal-notifier if it is installed, which replaces notifications and opens links; else macOS' own osascript. */
export const MACOS_PROGRAMS: readonly NotificationProgram[] = [
  {
    name: "terminal-notifier",
    replaces: true,
    call: ({ title, body, group, link, urgency }) => ({
      argv: [
        "terminal-notifier",
        "-title",
        plainArgument(title),
        "-message",
        plainArgument(body),
        ...(group === "" ? [] : ["-group", group]),
        ...(link === undefined ? [] : ["-open", link]),
        ...(urgency === "critical" ? ["-ignoreDnD"] : []),
      ],
    }),
  },
  {
    name: "osascript",
    replaces: false,
    call: ({ title, body }) => ({
      argv: [
        "osascript",
        "-e",
        "on run argv",
        "-e",
        "display notification (item 1 of argv) with title (item 2 of argv)",
        "-e",
        "end run",
        "--",
        body,
        title,
      ],
    }),
  },
];

/** A toast of Windows through PowerShell: the script is fixed, and text comes in variables. */
export const WINDOWS_PROGRAMS: readonly NotificationProgram[] = [
  {
    name: "powershell.exe",
    replaces: true,
    call: ({ title, body, group, link = "", urgency }) => {
      const text = {
        NOTE_TITLE: title,
        NOTE_BODY: body,
        NOTE_TAG: group.slice(0, 64),
        NOTE_LINK: link,
        NOTE_SHORT: urgency === "low" ? "1" : "",
      };
      return {
        argv: ["powershell.exe", "-NoProfile", "-NonInteractive", "-EncodedCommand", encodeScript(TOAST)],
        // A Linux inside Windows hands a program of Windows only the variables that WSLENV names.
        env: { ...text, WSLENV: Object.keys(text).join(":") },
      };
    },
  },
];

/** The toast is built as a document, so that text stays text. */
const TOAST = `
$ErrorActionPreference = 'Stop'
[void][Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
[void][Windows.Data.Xml.Dom.XmlDocument, Windows.Data.Xml.Dom, ContentType = WindowsRuntime]
$xml = New-Object Windows.Data.Xml.Dom.XmlDocument
$xml.LoadXml('<toast><visual><binding template="ToastGeneric"><text/><text/></binding></visual></toast>')
$texts = $xml.GetElementsByTagName('text')
[void]$texts.Item(0).AppendChild($xml.CreateTextNode($env:NOTE_TITLE))
[void]$texts.Item(1).AppendChild($xml.CreateTextNode($env:NOTE_BODY))
if ($env:NOTE_LINK) {
  $xml.DocumentElement.SetAttribute('activationType', 'protocol')
  $xml.DocumentElement.SetAttribute('launch', $env:NOTE_LINK)
}
$toast = New-Object Windows.UI.Notifications.ToastNotification $xml
if ($env:NOTE_TAG) { $toast.Tag = $env:NOTE_TAG; $toast.Group = 'askd' }
if ($env:NOTE_SHORT) { $toast.SuppressPopup = $true; $toast.ExpirationTime = [DateTimeOffset]::Now.AddMinutes(1) }
$shell = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\\WindowsPowerShell\\v1.0\\powershell.exe'
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($shell).Show($toast)
`;

function encodeScript(script: string) {
  return Buffer.from(script, "utf16le").toString("base64");
}

/** macOS reads an argument that begins like a property list as one. */
function plainArgument(text: string) {
  return /^[-({<["\\]/.test(text) ? `\u2060${text}` : text;
}
