import type { Plane } from './route.ts'

/** The parts of an OpenAPI document that we write and read. */
export interface ApiDocument {
  openapi: string
  info: { title: string; version: string }
  servers: { url: string }[]
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  /** The webhooks that endpoints receive. */
  webhooks?: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Shape>
    responses: Record<string, ResponseObject>
    securitySchemes: Record<string, SecurityScheme>
  }
}

export interface Operation {
  operationId?: string
  tags?: string[]
  summary?: string
  description?: string
  deprecated?: boolean
  security?: Record<string, string[]>[]
  'x-plane'?: Plane
  'x-scope'?: string
  parameters?: Parameter[]
  requestBody?: { content: Content }
  responses: Record<string, ResponseObject | Reference>
}

export interface ResponseObject {
  description: string
  content?: Content
}

interface Reference {
  $ref: string
}

export interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema: Shape
}

export type Content = Record<string, { schema: Shape; example?: unknown }>

/** A JSON Schema, as far as this code reads it. */
export type Shape = { [keyword: string]: unknown }

export interface SecurityScheme {
  type: 'http' | 'apiKey'
  scheme?: 'bearer'
  bearerFormat?: string
  in?: 'header' | 'cookie'
  name?: string
  description: string
}

const RESPONSES = '#/components/responses/'

/** Resolves a response that an operation only refers to. */
export function resolveResponse(
  document: ApiDocument,
  response: ResponseObject | Reference,
): ResponseObject {
  if (!('$ref' in response)) return response
  const found = document.components.responses[response.$ref.slice(RESPONSES.length)]
  if (found === undefined) throw new Error(`${response.$ref} leads nowhere`)
  return found
}

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete']
const byMethod = (a: string, b: string) => METHODS.indexOf(a) - METHODS.indexOf(b)

/** Sorts everything without an order of its own, so that two documents can be compared. */
export function arrange(
  made: ApiDocument,
  tags: Readonly<Record<string, string>>,
  webhooks: ApiDocument['webhooks'] = {},
): ApiDocument {
  const { paths, responses } = shareFailures(made.paths)
  const operations = Object.values(paths).flatMap((path) => Object.values(path))
  const names = [...new Set(operations.flatMap((operation) => operation.tags ?? []))].sort()
  return {
    openapi: made.openapi,
    info: made.info,
    servers: [{ url: '/' }],
    tags: names.map((name) => ({
      name,
      ...(tags[name] === undefined ? {} : { description: tags[name] }),
    })),
    paths: sorted(paths),
    ...(Object.keys(webhooks).length > 0 && { webhooks: sorted(webhooks) }),
    components: {
      schemas: sorted(made.components.schemas),
      responses: sorted(responses),
      securitySchemes: made.components.securitySchemes,
    },
  }
}

/**
 * Shares the error responses: many operations have the same set of codes, which is written once and
 * named after its codes.
 */
function shareFailures(paths: ApiDocument['paths']) {
  const responses: Record<string, ResponseObject> = {}
  const share = ([status, response]: [string, ResponseObject | Reference]) => {
    if (Number(status) < 400 || '$ref' in response) return [status, response] as const
    const codes = readFailures(response.description).map(({ code }) => code)
    const name = [status, ...codes].join('.')
    responses[name] = response
    return [status, { $ref: `${RESPONSES}${name}` }] as const
  }
  const shared = mapRecord(paths, (item) =>
    sorted(
      mapRecord(item, (operation) => ({
        ...operation,
        responses: Object.fromEntries(Object.entries(operation.responses).map(share)),
      })),
      byMethod,
    ),
  )
  return { paths: shared, responses }
}

/** Reads the codes and their meanings from the description of a response with failures. */
export const readFailures = (description: string): { code: string; meaning: string }[] =>
  [...description.matchAll(/^- `(\w+)`: (.*)$/gm)].map(([, code = '', meaning = '']) => ({
    code,
    meaning,
  }))

const mapRecord = <T, U>(record: Record<string, T>, change: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))

const sorted = <T>(record: Record<string, T>, compare?: (a: string, b: string) => number) =>
  Object.fromEntries(
    Object.keys(record)
      .sort(compare)
      .map((key) => [key, record[key] as T]),
  )
