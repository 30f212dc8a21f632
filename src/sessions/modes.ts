/** Who may read what was said: nobody but the owner. */

export const FOLDER_MODE = 0o700;
export const FILE_MODE = 0o600;
