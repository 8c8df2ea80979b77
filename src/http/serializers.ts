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
      const make: MakeSerializer = (route) =>
        selectSerializer()(findUsed(route.schema, shapes as Shapes), options)(route)
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

type Shapes = Readonly<Record<string, unknown>>

/**
 * The shared shapes that a schema refers to, and those that they refer to. The compiler examines all that
 * it is given anew for each response: the hundreds of others would take ten times as long as the response.
 */
function findUsed(schema: unknown, shapes: Shapes): Record<string, unknown> {
  const used: Record<string, unknown> = {}
  const waiting = [schema]
  for (const value of waiting) {
    if (typeof value !== 'object' || value === null) continue
    for (const [key, each] of Object.entries(value)) {
      if (key !== '$ref' || typeof each !== 'string') {
        waiting.push(each)
        continue
      }
      const [name = ''] = each.split('#', 1)
      if (!Object.hasOwn(shapes, name) || Object.hasOwn(used, name)) continue
      used[name] = shapes[name]
      waiting.push(shapes[name])
    }
  }
  return used
}
