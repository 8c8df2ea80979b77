import { createRequire } from 'node:module'
import {
  lazySerializers,
  type SchemaController,
  type Serialize,
} from '../../src/http/serializers.ts'

type Factory = NonNullable<SchemaController['compilersFactory']>
type BuildValidator = NonNullable<Factory['buildValidator']>
type MakeValidator = (route: { schema: unknown }) => unknown

/** The compiler that Fastify brings; it is no direct dependency of ours. */
const ofFastify = createRequire(createRequire(import.meta.url).resolve('fastify'))
const selectValidator: () => (...of: unknown[]) => MakeValidator =
  ofFastify('@fastify/ajv-compiler')

const serializers = new Map<string, Serialize>()
const validators = new Map<string, unknown>()

/** One for all apps; it distinguishes them by their shared schemas and options. */
const selectMaker = selectValidator()

const buildValidator = (...of: unknown[]): MakeValidator => {
  // Opened when it is needed: finding the one of an app compares all shared schemas as text.
  let make: MakeValidator | undefined
  return (route) => {
    const key = JSON.stringify(route.schema)
    const known = validators.get(key)
    if (known !== undefined) return known
    make ??= selectMaker(...of)
    const made = make(route)
    validators.set(key, made)
    return made
  }
}

/**
 * Compiled validators and serializers, shared by all apps of a test process. A process builds the
 * same app many times, and compiles each schema once. All apps have the same shared schemas.
 */
export const COMPILED_SCHEMAS: SchemaController = {
  compilersFactory: {
    ...lazySerializers((route, make) => {
      const key = JSON.stringify(route.schema)
      const known = serializers.get(key) ?? make(route)
      serializers.set(key, known)
      return known
    }).compilersFactory,
    buildValidator: buildValidator as BuildValidator,
  },
}
