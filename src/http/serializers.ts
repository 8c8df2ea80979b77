import { createRequire } from 'node:module'
import type { FastifyServerOptions } from 'fastify'

export type SchemaController = NonNullable<FastifyServerOptions['schemaController']>
type Factory = NonNullable<SchemaController['compilersFactory']>
type BuildSerializer = NonNullable<Factory['buildSerializer']>
export type MakeSerializer = ReturnType<BuildSerializer>
export type Serialize = ReturnType<MakeSerializer>

/** Fastify's own compiler, which is not a dependency of ours. */
const ofFastify = createRequire(createRequire(import.meta.url).resolve('fastify'))
const selectSerializer: () => BuildSerializer = ofFastify('@fastify/fast-json-stringify-compiler')

/**
 * Compiles the serializer of a response when it is first sent. Compiling all of them would add more
 * than a second to the start and a third to its memory, and most processes never send most
 * responses. `cache` lets tests, which build the same app many times, reuse compiled serializers.
 */
export const lazySerializers = (
  cache: (route: Parameters<MakeSerializer>[0], make: MakeSerializer) => Serialize = (
    route,
    make,
  ) => make(route),
): SchemaController => ({
  compilersFactory: {
    buildSerializer: (shapes, options) => {
      const make = selectSerializer()(shapes, options)
      return (route) => {
        let serialize: Serialize | undefined
        return (data) => {
          serialize ??= cache(route, make)
          return serialize(data)
        }
      }
    },
  },
})
