import type { ChannelResult } from "../../core/channel/channel.ts";

/** A notification, as every desktop shows it. */
export interface Notification {
  title: string;
  body: string;
  /** `low` disappears by itself. */
  urgency: "low" | "normal" | "critical";
  /** Notifications of the same group replace each other. */
  group: string;
  buttons: ReadonlyArray<{ key: string; label: string }>;
  /** The address that a click on the notification opens. */
  link: string | undefined;
  /** The words for opening it. */
  openLabel: string;
}

/** A person pressed a button of a notification. */
export interface Press {
  /** The same press has the same id in every process that hears of it. */
  id: string;
  /** The key of the button. */
  key: string;
}

/** Shows notifications on one kind of desktop. */
export interface Notifier {
  show(notification: Notification): Promise<ChannelResult>;
  /** Shows a notification in place of an earlier one, or lets it be if the person has dismissed that. */
  replace(outside: string, notification: Notification): Promise<ChannelResult>;
  /** Brings the notification before the person's eyes again. */
  repeat(outside: string | undefined, notification: Notification): Promise<ChannelResult>;
  /** Says where notifications go, or throws why they cannot be shown. */
  verify(): Promise<string>;
  /** Says whether a press on this notification would reach a process that lives. */
  isHeard?(outside: string): Promise<boolean>;
  /** Brings presses until aborted; ends with an error when the desktop is gone. */
  presses?(signal: AbortSignal): AsyncIterable<Press>;
}
