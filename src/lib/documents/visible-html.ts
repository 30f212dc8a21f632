/** Reads of a page what a person would see of it. What is hidden in it was put there for somebody else. */

import { fontSize } from "./css-length.ts";
import { hidesAll, isFaint, opacityOf } from "./hidden-style.ts";
import { type HtmlAttributes, readHtml } from "./html-tokens.ts";
import { INHERITS, type InlineStyle, parseInlineStyle } from "./inline-style.ts";
import { createOpenElements } from "./open-elements.ts";
import { BLACK, type Colour, cannotBeRead, isSeeThroughColour, parseColour, WHITE } from "./text-colour.ts";

/** Takes what can be seen, in order, every element closed. Names are in lower case. */
export interface VisibleSink {
  open(name: string, attributes: HtmlAttributes): void;
  close(name: string): void;
  /** Entities are not decoded. */
  text(raw: string): void;
  /** Nothing more is of use. */
  readonly isFull: boolean;
}

export interface PageFacts {
  /** Entities are not decoded. */
  readonly title: string;
  /** What `<base>` says. */
  readonly base: string | undefined;
  /** How many elements were inside each other at most. */
  readonly depth: number;
  readonly elements: number;
  /** How many elements each of them is in, all together. */
  readonly steps: number;
}

const words = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const VOID = words("area base br col embed hr img input link meta param source track wbr");
/** They and what is in them show nothing, or what they show is no text. */
const UNSEEN = words(
  "applet area audio base canvas col colgroup datalist embed frameset link meta meter mphantom object param " +
    "progress rp script select source style svg template title track video",
);
/** Tags of these inside an `svg` end it. */
const NO_PICTURE = words(
  "b big blockquote br center code dd div dl dt em h1 h2 h3 h4 h5 h6 hr i img li main ol p pre section small " +
    "span strong sub sup table u ul",
);
/** They are the page itself. What hides one of them is a script's first act, and what they name is the ground. */
const PAGE = words("html head body");

/** What an element gives to those in it, and what each of them can change for itself. */
interface Look {
  readonly colour: Colour | "usual";
  readonly background: Colour;
  /** In pixels. */
  readonly fontSize: number;
  readonly isInvisible: boolean;
  /** Of it within all that it is in. */
  readonly opacity: number;
}

const PLAIN: Look = { colour: "usual", background: WHITE, fontSize: 16, isInvisible: false, opacity: 1 };
/** In pixels. */
const TINY = 2;

interface State {
  readonly look: Look;
  readonly isHidden: boolean;
}

/** `decode` decodes the entities of a text. */
export function readVisible(
  html: string,
  sinks: readonly VisibleSink[],
  decode: (raw: string) => string,
): PageFacts {
  let title = "";
  let base: string | undefined;
  let depth = 0;
  let elements = 0;
  let steps = 0;
  let readsTitle = false;
  let ground = PLAIN;

  const stack = createOpenElements<State>((name, { isHidden }) => {
    if (!isHidden) for (const sink of sinks) sink.close(name);
  });
  const wantsMore = () => !sinks.every(({ isFull }) => isFull);

  function openElement(name: string, attributes: HtmlAttributes, isEmpty: boolean): void {
    const outer = stack.top;
    const style = parseInlineStyle(decode(attributes.get("style") ?? ""));
    const isHidden = (outer?.isHidden ?? false) || isHiddenByItself(name, attributes, style);
    const look = isHidden ? ground : lookOf(outer?.look ?? ground, attributes, style);
    if (!isHidden) {
      elements += 1;
      steps += stack.depth;
      for (const sink of sinks) sink.open(name, attributes);
    }
    if (isEmpty) {
      if (!isHidden) for (const sink of sinks) sink.close(name);
      return;
    }
    stack.push(name, { look, isHidden });
    depth = Math.max(depth, stack.depth);
  }

  readHtml(html, {
    open(name, attributes, selfClosing) {
      readsTitle = name === "title" && title === "" && !stack.isInside("svg");
      if (PAGE.has(name)) {
        const style = parseInlineStyle(decode(attributes.get("style") ?? ""));
        ground = groundOf(lookOf(ground, attributes, style));
        return true;
      }
      if (name === "base") base ??= attributes.get("href");
      if (stack.isInside("svg") && NO_PICTURE.has(name) && !stack.isInside("foreignobject"))
        stack.leave("svg");
      stack.beforeOpening(name);
      const isForeign = name === "svg" || stack.isInside("svg") || stack.isInside("math");
      openElement(name, attributes, VOID.has(name) || (selfClosing && isForeign));
      return wantsMore();
    },
    close(name) {
      readsTitle = false;
      if (!PAGE.has(name)) stack.endTag(name);
      return true;
    },
    text(raw) {
      if (readsTitle) title += raw;
      const { look = ground, isHidden = false } = stack.top ?? {};
      if (isHidden || !isReadable(look)) return true;
      for (const sink of sinks) sink.text(raw);
      return wantsMore();
    },
  });
  stack.closeAll();
  return { title, base, depth, elements, steps };
}

function isHiddenByItself(name: string, attributes: HtmlAttributes, style: InlineStyle): boolean {
  if (UNSEEN.has(name)) return true;
  if (name === "dialog" && !attributes.has("open")) return true;
  if (name === "input" && attributes.get("type")?.toLowerCase() !== "checkbox") return true;
  if (attributes.has("hidden") || attributes.has("popover")) return true;
  if (attributes.get("aria-hidden")?.trim().toLowerCase() === "true") return true;
  return hidesAll(style);
}

function lookOf(outer: Look, attributes: HtmlAttributes, style: InlineStyle): Look {
  const font = attributes.get("color")?.trim().toLowerCase();
  const paper = attributes.get("bgcolor")?.trim().toLowerCase();
  if (style.size === 0 && font === undefined && paper === undefined) return outer;
  return {
    colour: colourOf(outer, style, font),
    background: backgroundOf(outer.background, style, paper),
    fontSize: fontSizeOf(style.get("font-size"), outer.fontSize),
    isInvisible: isInvisible(style.get("visibility"), outer.isInvisible),
    opacity: outer.opacity * opacityOf(style),
  };
}

function colourOf({ colour: outer }: Look, style: InlineStyle, font: string | undefined): Colour | "usual" {
  // A picture or a gradient shows through letters that are cut out of it.
  if (style.get("background-clip") === "text" || style.get("-webkit-background-clip") === "text")
    return undefined;
  const stated = style.get("-webkit-text-fill-color") ?? style.get("color") ?? font;
  if (stated === undefined || INHERITS.test(stated) || stated === "currentcolor") return outer;
  return stated === "initial" ? BLACK : parseColour(stated);
}

function backgroundOf(outer: Colour, style: InlineStyle, paper: string | undefined): Colour {
  if (style.has("background-image") && style.get("background-image") !== "none") return undefined;
  const stated = style.get("background-color") ?? style.get("background") ?? paper;
  if (stated === undefined || /^(none|inherit|unset|initial)$/.test(stated)) return outer;
  if (/url\(|gradient\(|var\(/.test(stated)) return undefined;
  const colour = parseColour(stated) ?? parseColour(/[a-z-]+\([^()]*\)|[^\s()]+/.exec(stated)?.[0] ?? "");
  return isSeeThroughColour(colour) ? outer : colour;
}

/** What depends on what is not known here is as large as usual. */
function fontSizeOf(size: string | undefined, outer: number): number {
  if (size === undefined || INHERITS.test(size)) return outer;
  return fontSize(size, outer) ?? PLAIN.fontSize;
}

function isInvisible(visibility: string | undefined, outer: boolean): boolean {
  if (visibility === undefined || INHERITS.test(visibility)) return outer;
  return visibility === "hidden" || visibility === "collapse";
}

function isReadable({ colour, background, fontSize, isInvisible, opacity }: Look): boolean {
  if (fontSize <= TINY || isInvisible || isFaint(opacity)) return false;
  return colour === "usual" || !cannotBeRead(colour, background);
}

/** The colour that a page gives to all of its text is meant for a ground that its stylesheet gives it. */
function groundOf({ colour, background }: Look): Look {
  const isForAnother = background === WHITE || (colour !== "usual" && cannotBeRead(colour, background));
  return { ...PLAIN, background, colour: isForAnother ? "usual" : colour };
}
