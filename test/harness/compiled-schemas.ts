import { lazyCompilers, type SchemaController } from '../../src/http/lazy-compilers.ts'

/** Keeps the function that was compiled for a schema, for all apps of the process. */
function keep<T>() {
  const known = new Map<string, T>()
  return (schema: unknown, make: () => T): T => {
    const key = JSON.stringify(schema)
    const made = known.get(key) ?? make()
    known.set(key, made)
    return made
  }
}

/**
 * Compiled validators and serializers, shared by all apps of a test process. A process builds the
 * same app many times, and compiles each schema once. All apps have the same shared schemas.
 */
export const COMPILED_SCHEMAS: SchemaController = lazyCompilers({
  serializers: keep(),
  validators: keep(),
})
