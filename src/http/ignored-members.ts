import type { FastifyRequest } from 'fastify'
import { type TSchema, Type } from 'typebox'
import { FAULTS_MAX, type Fault, invalidBodyOf } from '../errors.ts'
import { ref, Shared } from '../kernel/schema.ts'
import { quotable } from './errors.ts'
import { resolveShape, type Shape, sentBody } from './known-members.ts'
import type { App, Plane } from './route.ts'
import { findUnknown } from './unknown-members.ts'

/** How many names an answer lists at most; a person would not read more. */
const NAMES_MAX = 50

const Ignored = Shared(
  'Ignored',
  Type.Array(Type.String(), {
    description:
      'The members of the body that this route does not know, and that changed nothing, with their paths. `*`: a name that is not shown.',
  }),
)

const WRITES: readonly unknown[] = ['POST', 'PUT', 'PATCH']

/** The planes whose writes report unknown members. Other planes ignore them, as trackers and old storefronts expect. */
const PLANES: readonly (Plane | undefined)[] = ['merchant', 'operator']

const isManaged = ({ routeOptions: { config } }: FastifyRequest) => PLANES.includes(config.plane)

/** The names that a request's answer lists. */
const ignored = new WeakMap<FastifyRequest, readonly string[]>()

const nameOf = (path: readonly string[]) => path.map(quotable).join('.')

/**
 * Reports the members of a body that its route does not know: a misspelt member would otherwise look like a change that
 * was made. A member that is almost a known one is refused; the answer lists all others in `ignored`, the answer of a
 * PATCH also if there are none. The hooks stand before all routes, so that a new route has them.
 */
export function nameIgnored(app: App): void {
  app.addHook('onRoute', (route) => {
    const { method, schema, validatorCompiler } = route
    if (!WRITES.includes(method)) return
    const shape = (schema?.body ?? { properties: {} }) as object
    const isRead = validatorCompiler === undefined
    const look = async (request: FastifyRequest) => {
      if (isRead && (method === 'PATCH' || isManaged(request))) findIgnored(request, shape)
    }
    route.preHandler = [look, ...[route.preHandler ?? []].flat()]
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      async (request, reply, payload) => {
        const names = ignored.get(request)
        return names === undefined || reply.statusCode >= 300 ? payload : addNames(payload, names)
      },
    ]
  })
}

/**
 * Finds the members of a body that its shape does not name. A route that reads its body itself calls this with the
 * body.
 */
export function findIgnored(
  request: FastifyRequest,
  shape: object,
  body: unknown = sentBody(request),
): void {
  const names: string[] = []
  const faults: Fault[] = []
  for (const { path, near } of findUnknown(shape as Shape, body)) {
    if (near !== null) faults.push(misspelt(path, near))
    if (names.length < NAMES_MAX) names.push(nameOf(path))
    if (faults.length >= FAULTS_MAX) break
  }
  if (faults.length > 0 && isManaged(request)) throw invalidBodyOf(faults)
  if (names.length > 0 || request.method === 'PATCH') ignored.set(request, names)
}

const misspelt = (path: readonly string[], near: string): Fault => ({
  path: nameOf(path),
  message: `is not a known member; did you mean \`${near}\`? Correct it, or leave it out`,
})

/** The misspelt members of a body that was refused for another fault. */
export function listMisspelt(request: FastifyRequest): Fault[] {
  const shape = request.routeOptions.schema?.body
  if (shape === undefined || !WRITES.includes(request.method) || !isManaged(request)) return []
  const faults: Fault[] = []
  for (const { path, near } of findUnknown(shape as Shape, request.body)) {
    if (near !== null) faults.push(misspelt(path, near))
    if (faults.length >= FAULTS_MAX) break
  }
  return faults
}

/**
 * Adds the names to an answer that is written already. The answer of an operation is stored under its key, and the same
 * body gives each replay the same names.
 */
function addNames(payload: unknown, names: readonly string[]): unknown {
  if (typeof payload !== 'string' || !payload.startsWith('{')) return payload
  const members = payload.slice(0, payload.lastIndexOf('}'))
  return `${members}${members === '{' ? '' : ','}"ignored":${JSON.stringify(names)}}`
}

/** Describes the member `ignored` in the answers of a write. */
export function withIgnored(
  { method, plane }: { method: unknown; plane: Plane },
  shape: TSchema,
): TSchema {
  const isPatch = method === 'PATCH'
  if (!WRITES.includes(method) || !(isPatch || PLANES.includes(plane))) return shape
  const { $id: _, ...answer } = resolveShape(shape as Shape) as Shape & { $id?: string }
  const { properties, required = [] } = answer
  if (properties === undefined) throw new Error('a write answers no object')
  return {
    ...answer,
    properties: { ...properties, ignored: ref(Ignored) },
    required: isPatch ? [...required, 'ignored'] : required,
  } as unknown as TSchema
}
