/** The package has no types of its own; what is used of it is described where it is used. */

declare module "mvdan-sh" {
  const sh: unknown;
  export default sh;
}
