/** Where servers of the Responses protocol differ. */

export interface ResponsesQuirks {
  /** It takes no `temperature`. */
  readonly noTemperature: boolean;
  /** It cannot be made to call a tool; it is asked to choose by itself. */
  readonly noForcedTool: boolean;
  /** It takes no `include`. */
  readonly noInclude: boolean;
  /** It gives no summaries of what was thought, or not to this account. */
  readonly noSummary: boolean;
  /** It takes no `max_output_tokens`. */
  readonly noLimit: boolean;
  /** It takes no `store`. */
  readonly noStore: boolean;
  /** It looks up what was thought by its id, and does not find what it never stored. */
  readonly noReasoningIds: boolean;
  /** It takes text alone in the result of a tool; images follow as if the user showed them. */
  readonly textResults: boolean;
  /** Efforts that it refused. */
  readonly refusedEfforts: ReadonlySet<string>;
}

export const noResponsesQuirks: ResponsesQuirks = {
  noTemperature: false,
  noForcedTool: false,
  noInclude: false,
  noSummary: false,
  noLimit: false,
  noStore: false,
  noReasoningIds: false,
  textResults: false,
  refusedEfforts: new Set(),
};
