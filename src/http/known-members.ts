import type { FastifyRequest, RouteOptions } from 'fastify'
import { sharedShapes } from '../kernel/schema.ts'
import type { App } from './route.ts'

/** A shape of a body, as far as it says which members there are. */
export interface Shape {
  $ref?: string
  anyOf?: readonly Shape[]
  properties?: Readonly<Record<string, Shape>>
  required?: readonly string[]
  items?: Shape
  additionalProperties?: unknown
  patternProperties?: unknown
}

/** The bodies as they were sent, for requests whose routes got fewer members. */
const wholeBodies = new WeakMap<FastifyRequest, unknown>()

/** Returns the body of a request with the members that its route does not know. */
export const sentBody = (request: FastifyRequest): unknown =>
  wholeBodies.get(request) ?? request.body

/**
 * Removes from each body the members that its route does not know, at any depth, once the body is validated. A handler
 * may spread a body over a row or a plan: a member that no schema has checked would then replace ours. The hook stands
 * before all routes, so that a new route has it. A route that validates its body itself, or stores its text, gets the
 * body as it was sent (decision 0064).
 */
export function dropUnknownMembers(app: App): void {
  app.addHook('onRoute', (route: RouteOptions) => {
    const shape = route.schema?.body as Shape | undefined
    const isOwn = route.validatorCompiler !== undefined || route.config?.verbatim !== undefined
    if (shape === undefined || isOwn) return
    const drop = async (request: FastifyRequest) => {
      const known = withoutUnknown(shape, request.body)
      if (known === request.body) return
      wholeBodies.set(request, request.body)
      request.body = known
    }
    route.preHandler = [drop, ...[route.preHandler ?? []].flat()]
  })
}

/** Returns the value without the members that its shape does not name; the same object if it has no others. */
export function withoutUnknown(shape: Shape, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const { items, properties, ...rest } = resolveShape(shape)
  if (Array.isArray(value)) return items === undefined ? value : mapItems(items, value)
  return properties === undefined ? value : pickMembers({ properties, ...rest }, value)
}

const mapItems = (items: Shape, list: readonly unknown[]): readonly unknown[] => {
  const known = list.map((each) => withoutUnknown(items, each))
  return known.some((each, at) => each !== list[at]) ? known : list
}

function pickMembers(
  {
    properties,
    additionalProperties,
    patternProperties,
  }: Shape & Required<Pick<Shape, 'properties'>>,
  value: object,
): object {
  const isOpen = Boolean(additionalProperties) || patternProperties !== undefined
  const known: Record<string, unknown> = {}
  let isSame = true
  for (const [name, member] of Object.entries(value)) {
    const shape = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (shape === undefined && !isOpen) {
      isSame = false
      continue
    }
    known[name] = shape === undefined ? member : withoutUnknown(shape, member)
    isSame &&= known[name] === member
  }
  return isSame ? value : known
}

/**
 * Resolves a shared shape, and the shape of "a value or null". Other alternatives stay: it is not known which one
 * holds.
 */
export function resolveShape(shape: Shape): Shape {
  if (shape.$ref !== undefined) return resolveShape(sharedShape(shape.$ref))
  const [only, ...others] = (shape.anyOf ?? []).filter(
    ({ $ref, anyOf, items, properties }) => $ref ?? anyOf ?? items ?? properties,
  )
  return only === undefined || others.length > 0 ? shape : resolveShape(only)
}

const shared = new Map<string, Shape>()

function sharedShape(reference: string): Shape {
  const known = shared.get(reference)
  if (known !== undefined) return known
  const found = sharedShapes().find((each) => `${(each as { $id?: string }).$id}#` === reference)
  if (found === undefined) throw new Error(`there is no shape ${reference}`)
  shared.set(reference, found as Shape)
  return found as Shape
}
