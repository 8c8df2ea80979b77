import { createRequire } from 'node:module'
import type { FastifyServerOptions } from 'fastify'

export type SchemaController = NonNullable<FastifyServerOptions['schemaController']>
type Factory = NonNullable<SchemaController['compilersFactory']>
type BuildSerializer = NonNullable<Factory['buildSerializer']>
export type MakeSerializer = ReturnType<BuildSerializer>
export type Serialize = ReturnType<MakeSerializer>

/** Fastify's own, which is no dependency of ours. */
const ofFastify = createRequire(createRequire(import.meta.url).resolve('fastify'))
const selectSerializer: () => BuildSerializer = ofFastify('@fastify/fast-json-stringify-compiler')

/**
 * Makes code of an answer's shape when that answer is first given. To do it for all of them takes a
 * start more than a second and a third of its memory, and most processes never give most answers.
 * Whoever builds the same app many times may keep what was made.
 */
export const lazySerializers = (
  keep: (route: Parameters<MakeSerializer>[0], make: MakeSerializer) => Serialize = (route, make) =>
    make(route),
): SchemaController => ({
  compilersFactory: {
    buildSerializer: (shapes, options) => {
      const make = selectSerializer()(shapes, options)
      return (route) => {
        let serialize: Serialize | undefined
        return (data) => {
          serialize ??= keep(route, make)
          return serialize(data)
        }
      }
    },
  },
})
