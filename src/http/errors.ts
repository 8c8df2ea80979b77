import type { IncomingMessage } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { SharedCode } from '../error-codes.ts'
import { ApiError, errorBody, type Fault } from '../errors.ts'
import { describePattern } from '../kernel/schema.ts'
import { headersOf } from './safe-headers.ts'

/**
 * Whether an error body has its correlation id. Bodies of 401 and 404 never do: they must be equal to the byte,
 * whatever is missing. On public routes only failures on our side have it.
 */
export function showsCorrelation(status: number, plane: string | undefined): boolean {
  if (status >= 500) return true
  return status !== 401 && status !== 404 && plane !== undefined && plane !== 'public'
}

const FRAMEWORK_CODES: Record<string, SharedCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_body',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_body',
  FST_ERR_CTP_INVALID_JSON_BODY: 'invalid_body',
  FST_ERR_BAD_URL: 'invalid_request',
  FST_ERR_MAX_PARAM_LENGTH: 'uri_too_long',
  ERR_STREAM_PREMATURE_CLOSE: 'invalid_body',
}

/**
 * Turns any thrown value into an error of the API. An unexpected error is our fault, never the caller's. `listFaults`
 * finds the other faults of a body that was refused for one.
 */
export function toApiError(
  thrown: unknown,
  request?: IncomingMessage,
  listFaults: () => Fault[] = () => [],
): ApiError {
  if (thrown instanceof ApiError) return thrown
  // The caller has closed the connection. The response is still counted, as the caller's error.
  if (request?.destroyed && !request.complete) return new ApiError('invalid_body')
  // Any value can be thrown, also undefined.
  const error = Object(thrown) as Partial<FastifyError>
  if (error.validation !== undefined) {
    return validationError(error as FastifyError, listFaults)
  }
  const code = FRAMEWORK_CODES[error.code ?? '']
  if (code !== undefined) return new ApiError(code, { cause: thrown })
  return new ApiError('service_unavailable', { cause: thrown })
}

/**
 * Hides text that may not be quoted: our own member names may be shown in a response, while other
 * text of the caller may be a card number.
 */
export const quotable = (segment: string): string =>
  /^([a-z_]{1,40}\d?|\d{1,5})$/i.test(segment) ? segment : '*'

/** How long a caller waits after a failure on our side, where the failure itself does not say. */
const RETRY_SECONDS = '2'

type Issue = NonNullable<FastifyError['validation']>[number]

const FORMATS: Record<string, string> = {
  'date-time': 'must be a date and time with its zone, such as 2026-01-31T09:00:00Z',
  email: 'must be an e-mail address',
  uuid: 'must be a UUID',
}

/**
 * Says what was expected, for people: the allowed values, and the meaning of a pattern instead of
 * the pattern.
 */
export function describeIssue({
  keyword,
  params,
  message,
}: Pick<Issue, 'keyword' | 'params' | 'message'>) {
  const { allowedValues, pattern, format } = params as {
    allowedValues?: unknown[]
    pattern?: string
    format?: string
  }
  if (keyword === 'enum' && allowedValues !== undefined) {
    return `must be one of ${allowedValues.join(', ')}`
  }
  if (keyword === 'additionalProperties') return 'is not a known member; remove it'
  if (keyword === 'not') return 'must have a different value'
  const words = keyword === 'format' ? FORMATS[format ?? ''] : describePattern(pattern ?? '')
  return words ?? message ?? 'is not valid; see the API reference'
}

/** Names the place of each fault in the body, and what was expected there. Never repeats the caller's text. */
export const toFaults = (issues: readonly Issue[], above: readonly string[] = []): Fault[] =>
  issues
    // That an `if` branch failed adds nothing to what failed inside it.
    .filter(({ keyword }) => keyword !== 'if')
    .map((issue) => {
      const { missingProperty, additionalProperty } = issue.params as Record<string, unknown>
      const member = missingProperty ?? additionalProperty
      const inside = [...above, ...issue.instancePath.split('/').slice(1)]
      const path = member === undefined ? inside : [...inside, String(member)]
      return { path: path.map(quotable).join('.'), message: describeIssue(issue) }
    })

/** Makes the error that names all faults of a body, where they could be found, and otherwise the first one. */
function validationError(error: FastifyError, listFaults: () => Fault[]): ApiError {
  const all = error.validationContext === 'body' ? listFaults() : []
  const issues = all.length > 0 ? all : toFaults(error.validation ?? [])
  return new ApiError('invalid_body', { body: { issues }, cause: error })
}

/** What a caller of a keyed route must know after a failure: a new key could be a second order or refund. */
const SAME_KEY =
  'Something went wrong on our side, and the request may have been carried out. Try again with the same Idempotency-Key.'

/** Adds to a failure on our side when to try again, and on keyed routes that the key must stay the same. */
function withRetry(error: ApiError, isKeyed: boolean): ApiError {
  if (error.status !== 503) return error
  const { code, body, kind, status } = error
  const message = isKeyed && code === 'service_unavailable' ? SAME_KEY : error.message
  const headers = { 'retry-after': RETRY_SECONDS, ...error.headers }
  const options = { headers, body, ...(kind && { kind }), cause: error.cause }
  return new ApiError(code, options, [status, message])
}

const hasKey = ({ headers }: FastifyRequest): boolean => headers['idempotency-key'] !== undefined

export function sendError(request: FastifyRequest, reply: FastifyReply, thrown: ApiError) {
  const { config } = request.routeOptions
  const { plane, idempotent } = config
  const isKeyed = idempotent === true || (idempotent === 'optional' && hasKey(request))
  const error = withRetry(thrown, isKeyed)
  const correlationId = showsCorrelation(error.status, plane) ? request.id : undefined
  if (error.status === 401) reply.header('www-authenticate', 'Bearer')
  return (
    reply
      .code(error.status)
      // The route may have set the headers of a success already.
      .headers(headersOf(config))
      .headers(error.headers)
      .type('application/json; charset=utf-8')
      .serializer((text: string) => text)
      .send(errorBody(error, correlationId))
  )
}
