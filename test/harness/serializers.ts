import { createRequire } from 'node:module'
import type { FastifyServerOptions } from 'fastify'

type Controller = NonNullable<FastifyServerOptions['schemaController']>
type BuildSerializer = NonNullable<NonNullable<Controller['compilersFactory']>['buildSerializer']>

/** Fastify's own, which is no dependency of ours. */
const ofFastify = createRequire(createRequire(import.meta.url).resolve('fastify'))
const selectSerializer: () => BuildSerializer = ofFastify('@fastify/fast-json-stringify-compiler')

const kept = new Map<string, ReturnType<ReturnType<BuildSerializer>>>()

/**
 * Making code of all answers' shapes takes a second, and a test file builds the same app many times:
 * what was made for the first serves the others. Not for an app with routes of a test's own.
 */
export const KEPT_SERIALIZERS: Controller = {
  compilersFactory: {
    buildSerializer: (shapes, options) => {
      const make = selectSerializer()(shapes, options)
      return (route) => {
        const key = JSON.stringify(route.schema)
        const known = kept.get(key) ?? make(route)
        kept.set(key, known)
        return known
      }
    },
  },
}
