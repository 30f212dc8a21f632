/** Images of tools' results, for servers that take text alone in a result: they follow, as if the user showed them. */

import type { ChatMessage, Image, ToolMessage } from "../../core/model.ts";
import { imagesOf } from "../../lib/message-images.ts";

/** What follows the last of the results of one reply. */
interface ResultImages {
  readonly role: "resultImages";
  /** Those with images. Never empty. */
  readonly results: readonly ToolMessage[];
}

export type WireMessage = ChatMessage | ResultImages;

/** The results are as they were: that only their text is sent is for the caller to see to. */
export function imagesBehindResults(messages: readonly ChatMessage[]): readonly WireMessage[] {
  if (!messages.some(holdsImages)) return messages;
  const all: WireMessage[] = [];
  let waiting: ToolMessage[] = [];
  messages.forEach((message, index) => {
    all.push(message);
    if (holdsImages(message)) waiting.push(message);
    if (waiting.length === 0 || messages[index + 1]?.role === "tool") return;
    all.push(resultImages(waiting));
    waiting = [];
  });
  return all;
}

function holdsImages(message: ChatMessage): message is ToolMessage {
  return message.role === "tool" && imagesOf(message).length > 0;
}

// By their last result: what was encoded once is found by its object.
const known = new WeakMap<ToolMessage, ResultImages>();

function resultImages(results: readonly ToolMessage[]): ResultImages {
  const last = results.at(-1) as ToolMessage;
  const before = known.get(last);
  const isSame =
    before?.results.length === results.length &&
    before.results.every((result, index) => result === results[index]);
  if (before !== undefined && isSame) return before;
  const made: ResultImages = { role: "resultImages", results };
  known.set(last, made);
  return made;
}

/** As parts of a message: in front of the images of each result it says whose they are. `callId` is as the server knows it. */
export function resultImageParts<Part>(
  { results }: ResultImages,
  form: {
    readonly callId: (id: string) => string;
    readonly text: (text: string) => Part;
    readonly image: (image: Image) => Part;
  },
): Part[] {
  return results.flatMap(({ name, toolCallId, images = [] }) => {
    const what = images.length === 1 ? "Image" : "Images";
    const whose = form.text(`${what} from ${name || "a tool"} (call ${form.callId(toolCallId)}):`);
    return [whose, ...images.map(form.image)];
  });
}
