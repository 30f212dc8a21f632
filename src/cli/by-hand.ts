/** The session that calls of tools by hand are recorded under. It has no file: their results go to the terminal only. */
export const BY_HAND = "cli:tools";
