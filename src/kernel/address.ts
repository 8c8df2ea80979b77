/**
 * Removes the port that some proxies add to an address: `192.0.2.1:443`, `[2001:db8::1]:443`,
 * `[2001:db8::1]`.
 */
export const withoutPort = (text: string): string =>
  /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
