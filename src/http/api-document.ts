import type { Plane } from './route.ts'

/** The parts of an OpenAPI document that we write and read. */
export interface ApiDocument {
  openapi: string
  info: { title: string; version: string }
  servers: { url: string }[]
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  /** What we send to whoever has asked for it. */
  webhooks?: Record<string, Record<string, Operation>>
  components: {
    schemas: Record<string, Shape>
    responses: Record<string, Answer>
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
  responses: Record<string, Answer | Reference>
}

export interface Answer {
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

export type Content = Record<string, { schema: Shape }>

/** A JSON Schema, as far as one is looked into. */
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

/** A response itself, where an operation only refers to it. */
export function findAnswer(document: ApiDocument, response: Answer | Reference): Answer {
  if (!('$ref' in response)) return response
  const answer = document.components.responses[response.$ref.slice(RESPONSES.length)]
  if (answer === undefined) throw new Error(`${response.$ref} leads nowhere`)
  return answer
}

const METHODS = ['get', 'head', 'post', 'put', 'patch', 'delete']
const byMethod = (a: string, b: string) => METHODS.indexOf(a) - METHODS.indexOf(b)

/** Sorts what has no order of its own, so that documents can be compared. */
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

/** Most operations fail alike: each set of codes is written once, and named for them. */
function shareFailures(paths: ApiDocument['paths']) {
  const responses: Record<string, Answer> = {}
  const share = ([status, response]: [string, Answer | Reference]) => {
    if (Number(status) < 400 || '$ref' in response) return [status, response] as const
    const codes = [...response.description.matchAll(/^- `(\w+)`/gm)].map(([, code]) => code)
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

const mapRecord = <T, U>(record: Record<string, T>, change: (value: T) => U): Record<string, U> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))

const sorted = <T>(record: Record<string, T>, compare?: (a: string, b: string) => number) =>
  Object.fromEntries(
    Object.keys(record)
      .sort(compare)
      .map((key) => [key, record[key] as T]),
  )
