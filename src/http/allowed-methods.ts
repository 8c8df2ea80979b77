import type { RouteEntry } from './route.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

interface Pattern {
  parts: readonly string[]
  methods: readonly string[]
}

/**
 * Makes a function that returns the methods of a path. Patterns are split once and kept by their number of parts, so
 * that a path without a route costs no more than one with a route, however long it is.
 */
export function indexMethods(routes: readonly RouteEntry[]): (path: string) => string[] {
  const patterns = new Map<number, Pattern[]>()
  for (const { url, method } of routes) {
    const parts = url.split('/')
    const methods = method === 'GET' ? ['GET', 'HEAD'] : [method]
    patterns.set(parts.length, [...(patterns.get(parts.length) ?? []), { parts, methods }])
  }
  const longest = Math.max(0, ...patterns.keys())
  return (path) => {
    // One part more than any pattern has is enough to know that none matches.
    const given = path.split('/', longest + 1)
    const found = (patterns.get(given.length) ?? []).filter(({ parts }) => matches(parts, given))
    const methods = new Set(found.flatMap((pattern) => pattern.methods))
    return METHODS.filter((method) => methods.has(method))
  }
}

const matches = (parts: readonly string[], given: readonly string[]): boolean =>
  parts.every((part, i) => (part.startsWith(':') ? given[i] !== '' : part === given[i]))
