import type { RouteOptions } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { quotable } from './errors.ts'
import { sentBody } from './known-members.ts'
import type { App } from './route.ts'

/** How many names an answer lists at most; a person would not read more. */
const NAMES_MAX = 50

const Ignored = Type.Array(Type.String(), {
  description:
    'The members of the body that this route does not know, and that changed nothing. `*`: a name that is not shown.',
})

/**
 * Lists, in the answer of each PATCH, the members of the body that its route does not know: a misspelt name would
 * otherwise look like a change that was made. The hook stands before all routes, so that a new route has it.
 */
export function nameIgnored(app: App): void {
  app.addHook('onRoute', (route) => {
    const known = route.method === 'PATCH' ? membersOf(route.schema?.body) : null
    if (known === null) return
    route.schema = { ...route.schema, response: withIgnored(route) }
    const before = [route.preSerialization ?? []].flat()
    route.preSerialization = [
      ...before,
      async (request, reply, payload) =>
        reply.statusCode < 300
          ? { ...(payload as object), ignored: listIgnored(sentBody(request), known) }
          : payload,
    ]
  })
}

/** Returns the names of the members that a body may have; null where it may have any, or there is no body. */
function membersOf(body: unknown): ReadonlySet<string> | null {
  const { properties } = (body ?? {}) as { properties?: Record<string, unknown> }
  return properties === undefined ? null : new Set(Object.keys(properties))
}

function withIgnored({ method, url, schema }: RouteOptions): Record<string, TSchema> {
  const response = (schema?.response ?? {}) as Record<string, { properties?: object }>
  return Object.fromEntries(
    Object.entries(response).map(([status, { properties }]) => {
      if (properties === undefined) throw new Error(`${method} ${url} answers no object`)
      return [status, Type.Object({ ...properties, ignored: Ignored })]
    }),
  )
}

const listIgnored = (body: unknown, known: ReadonlySet<string>): string[] =>
  Object.keys(body ?? {})
    .filter((name) => !known.has(name))
    .slice(0, NAMES_MAX)
    .map(quotable)
