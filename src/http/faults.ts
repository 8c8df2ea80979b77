import type { FastifyRequest, FastifySchemaValidationError } from 'fastify'
import { FAULTS_MAX, type Fault } from '../errors.ts'
import { toFaults } from './errors.ts'
import { listMisspelt } from './ignored-members.ts'

interface Shape {
  properties?: Record<string, object>
  required?: readonly string[]
  items?: object
  additionalProperties?: unknown
}

type Validate = (value: unknown) => readonly FastifySchemaValidationError[]

interface Search {
  validate(shape: object): Validate
  faults: Fault[]
}

/**
 * Lists the faults of a body, only the first for each member. The list is empty if the route declares no shape for a
 * body.
 *
 * The validator stops at its first fault, since a length must be refused before a pattern is tried on it. So each
 * member is validated again alone, as far as the shape names the members.
 */
export function listFaults(request: FastifyRequest): Fault[] {
  const shape = request.routeOptions.schema?.body
  if (typeof shape !== 'object' || shape === null) return []
  const search: Search = { validate: (each) => validatorOf(request, each), faults: [] }
  collect(search, shape, request.body, [])
  // If a member is missing, a misspelt one is most likely the reason.
  const misspelt = listMisspelt(request)
  const others = search.faults.filter(({ path }) => misspelt.every((each) => each.path !== path))
  return [...misspelt, ...others].slice(0, FAULTS_MAX)
}

function validatorOf(request: FastifyRequest, shape: object): Validate {
  const validate = request.compileValidationSchema(shape as Record<string, unknown>, 'body')
  return (value) => (validate(value) ? [] : (validate.errors ?? []))
}

/** The rules by which the validator reports an object for one of its members. */
const ABOUT_MEMBERS = ['required', 'additionalProperties']

/** Collects the faults of a value, at least one if it is wrong. */
function collect(search: Search, shape: object, value: unknown, path: readonly string[]): void {
  if (search.faults.length >= FAULTS_MAX) return
  const own = search.validate(shape)(value)
  if (own.length === 0) return
  // A value of another type, or a list that is too long, is one fault, whatever it contains.
  if (own[0]?.instancePath === '' && !ABOUT_MEMBERS.includes(own[0].keyword)) {
    search.faults.push(...toFaults(own, path))
    return
  }
  const before = search.faults.length
  search.faults.push(...toFaults(namesAmiss(shape, value), path))
  for (const [name, part, member] of partsOf(shape, value)) {
    collect(search, part, member, [...path, name])
    if (search.faults.length >= FAULTS_MAX) return
  }
  if (search.faults.length === before) search.faults.push(...toFaults(own, path))
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !Buffer.isBuffer(value)

/** Lists the members of an object, or the items of an array, that have a shape of their own. */
function partsOf({ properties, items }: Shape, value: unknown): [string, object, unknown][] {
  if (Array.isArray(value)) {
    if (items === undefined) return []
    return value.map((item, at) => [String(at), items, item])
  }
  if (!isRecord(value)) return []
  return Object.entries(properties ?? {}).flatMap(([name, part]) =>
    Object.hasOwn(value, name) ? [[name, part, value[name]]] : [],
  )
}

/** Lists the members that are missing and those that may not be there, as the validator would report each. */
function namesAmiss(shape: Shape, value: unknown): FastifySchemaValidationError[] {
  if (!isRecord(value)) return []
  const { required = [], properties = {}, additionalProperties } = shape
  const missing = required.filter((name) => !Object.hasOwn(value, name))
  const names = additionalProperties === false ? Object.keys(value) : []
  const unknown = names.filter((name) => !Object.hasOwn(properties, name)).slice(0, FAULTS_MAX)
  const place = { instancePath: '', schemaPath: '' }
  return [
    ...missing.map((name) => ({
      ...place,
      keyword: 'required',
      params: { missingProperty: name },
      message: `must have required property '${name}'`,
    })),
    ...unknown.map((name) => ({
      ...place,
      keyword: 'additionalProperties',
      params: { additionalProperty: name },
    })),
  ]
}
