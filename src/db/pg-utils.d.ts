/**
 * How the driver serialises a parameter before it binds it. Its type declarations leave this out.
 */
declare module 'pg/lib/utils.js' {
  export function prepareValue(value: unknown): string | Buffer | null
}
