import { createRequire } from 'node:module'
import type { FastifyServerOptions } from 'fastify'

export type SchemaController = NonNullable<FastifyServerOptions['schemaController']>
type Factory = NonNullable<SchemaController['compilersFactory']>
type BuildSerializer = NonNullable<Factory['buildSerializer']>
type BuildValidator = NonNullable<Factory['buildValidator']>
type MakeSerializer = ReturnType<BuildSerializer>
type Serialize = ReturnType<MakeSerializer>
/** Checks whether the data has its shape. Ajv leaves the faults in `errors`. */
type Validate = ((data: unknown) => unknown) & { errors?: unknown }

type MakeValidator = (route: { schema: unknown }) => Validate

/** Finds the compiled function of a schema, or makes it. */
type Cache<T> = (schema: unknown, make: () => T) => T

/** Fastify's own compilers, which are not dependencies of ours. */
const ofFastify = createRequire(createRequire(import.meta.url).resolve('fastify'))
// Each compiler is loaded with the first schema that it compiles.
const selectSerializer = (): BuildSerializer => ofFastify('@fastify/fast-json-stringify-compiler')()
const selectValidator = (): ((...of: unknown[]) => MakeValidator) =>
  ofFastify('@fastify/ajv-compiler')()

const noCache = <T>(_schema: unknown, make: () => T): T => make()

/**
 * Compiles the serializer of a response when it is first sent, and the validator of a request when it first arrives.
 * Compiling all of them would add more than two seconds to the start and a third to its memory, and most processes
 * never need most of them. The caches let tests, which build the same app many times, reuse compiled functions
 * (decision 0072).
 */
export const lazyCompilers = ({
  serializers = noCache,
  validators = noCache,
}: {
  serializers?: Cache<Serialize>
  validators?: Cache<Validate>
} = {}): SchemaController => ({
  compilersFactory: {
    buildSerializer: (shapes, options) => (route) => {
      const make = () =>
        selectSerializer()(findUsed(route.schema, shapes as Shapes), options)(route)
      let serialize: Serialize | undefined
      return (data) => {
        serialize ??= serializers(route.schema, make)
        return serialize(data)
      }
    },
    buildValidator: lazyValidators(validators) as BuildValidator,
  },
})

const lazyValidators =
  (cache: Cache<Validate>) =>
  (...of: unknown[]): MakeValidator => {
    // One Ajv for all routes, created when it is first needed.
    let makeValidator: MakeValidator | undefined
    return (route) => {
      let validate: Validate | undefined
      const lazy: Validate = (data) => {
        validate ??= cache(route.schema, () => {
          makeValidator ??= selectValidator()(...of)
          return makeValidator(route)
        })
        const isValid = validate(data)
        lazy.errors = validate.errors
        return isValid
      }
      return lazy
    }
  }

type Shapes = Readonly<Record<string, unknown>>

/**
 * Finds the shared shapes that a schema refers to, and those that they refer to in turn. The compiler examines all
 * shapes it is given again for each response: the hundreds of unused ones would take ten times as long as the
 * response.
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
