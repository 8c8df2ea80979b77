import type { IncomingMessage } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import { ApiError, type ErrorCode, errorBody } from '../errors.ts'
import { patternWords } from '../kernel/schema.ts'

/**
 * Whether a body names its correlation id. A 401 and a 404 never do: they must be alike to the byte,
 * whatever was missing. On public routes only our own failures do.
 */
export function showsCorrelation(status: number, plane: string | undefined): boolean {
  if (status >= 500) return true
  return status !== 401 && status !== 404 && plane !== undefined && plane !== 'public'
}

const FRAMEWORK_CODES: Record<string, ErrorCode> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'body_too_large',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'unsupported_media_type',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'invalid_body',
  FST_ERR_CTP_EMPTY_JSON_BODY: 'invalid_body',
  FST_ERR_CTP_INVALID_JSON_BODY: 'invalid_body',
  FST_ERR_BAD_URL: 'invalid_request',
  FST_ERR_MAX_PARAM_LENGTH: 'uri_too_long',
  ERR_STREAM_PREMATURE_CLOSE: 'invalid_body',
}

/** What any thrown thing means to the caller. What we did not foresee is our fault, never theirs. */
export function toApiError(thrown: unknown, request?: IncomingMessage): ApiError {
  if (thrown instanceof ApiError) return thrown
  // Nobody waits for this answer, but it is counted, and it is the caller who went away.
  if (request?.destroyed && !request.complete) return new ApiError('invalid_body')
  // Anything can be thrown, also nothing.
  const error = Object(thrown) as Partial<FastifyError>
  if (error.validation !== undefined) return validationError(error as FastifyError)
  const code = FRAMEWORK_CODES[error.code ?? '']
  if (code !== undefined) return new ApiError(code, { cause: thrown })
  return new ApiError('service_unavailable', { cause: thrown })
}

/** Names of ours may be shown in an answer; any other text a caller sent may be a card number. */
export const quotable = (segment: string): string =>
  /^([a-z_]{1,40}\d?|\d{1,5})$/i.test(segment) ? segment : '*'

type Issue = NonNullable<FastifyError['validation']>[number]

const FORMATS: Record<string, string> = {
  'date-time': 'must be a date and time with its zone, such as 2026-01-31T09:00:00Z',
  email: 'must be an e-mail address',
  uuid: 'must be a UUID',
}

/** What was expected, for a person: the choices there are, and not the pattern but its meaning. */
export function inWords({
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
  const words = keyword === 'format' ? FORMATS[format ?? ''] : patternWords(pattern ?? '')
  return words ?? message ?? 'is not valid; see the API reference'
}

/** Says where the body is wrong and what was expected there. Never repeats what was sent. */
function validationError(error: FastifyError): ApiError {
  // That a branch failed says nothing beside what failed in it.
  const telling = (error.validation ?? []).filter(({ keyword }) => keyword !== 'if')
  const issues = telling.map((issue) => {
    const { missingProperty, additionalProperty } = issue.params as Record<string, unknown>
    const member = missingProperty ?? additionalProperty
    const above = issue.instancePath.split('/').slice(1)
    const path = member === undefined ? above : [...above, String(member)]
    return { path: path.map(quotable).join('.'), message: inWords(issue) }
  })
  return new ApiError('invalid_body', { body: { issues }, cause: error })
}

export function sendError(request: FastifyRequest, reply: FastifyReply, error: ApiError) {
  const { plane } = request.routeOptions.config
  const correlationId = showsCorrelation(error.status, plane) ? request.id : undefined
  if (error.status === 401) reply.header('www-authenticate', 'Bearer')
  return reply
    .code(error.status)
    .headers(error.headers)
    .type('application/json; charset=utf-8')
    .serializer((text: string) => text)
    .send(errorBody(error, correlationId))
}
