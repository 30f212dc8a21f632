/** Which models think before they answer, by the names their maker gives them. */

/** They count their thinking in the limit of tokens and take no temperature. */
export const REASONING_MODEL = /(^|\/)(gpt-([5-9]|\d{2})|o[134]|kimi-k3)([-.:]|$)/;
