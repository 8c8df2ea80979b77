import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ApiError } from '../errors.ts'
import { html } from '../kernel/html.ts'
import { sendPage, writePage } from './page.ts'
import { SAFE_HEADERS } from './safe-headers.ts'

/** Errors of the platform's host as pages, for people: a program asks for no HTML and gets JSON. */

const acceptsHtml = ({ headers }: FastifyRequest): boolean =>
  (headers.accept ?? '').includes('text/html')

/** Whether a person's browser asks for one of our pages. */
export const isOfPage = (request: FastifyRequest): boolean =>
  request.routeOptions.config.hidden === true && acceptsHtml(request)

/** Whether a person's browser asks for an address outside the API that no route has. */
export const wantsNoPage = (request: FastifyRequest): boolean =>
  ['GET', 'HEAD'].includes(request.method) &&
  !request.url.startsWith('/v1/') &&
  acceptsHtml(request)

export function sendErrorPage(reply: FastifyReply, error: ApiError) {
  const body = html`<p>${error.message}</p><p class="quiet"><code>${error.code}</code></p>`
  return sendPage(reply.code(error.status).headers(error.headers), {
    title: 'That did not work',
    body,
    isForm: true,
  })
}

const { headers, text } = writePage({
  title: 'There is no page here',
  body: html`<p>Please check the address. If a mail or a shop has led you here, its link may not be complete.</p><p><a href="/">To the start</a></p>`,
  isForm: true,
})

/** The page for an unknown path, which is sent in one piece with its headers. */
export const NO_PAGE = {
  text,
  headers: { ...SAFE_HEADERS, ...headers, 'content-length': Buffer.byteLength(text) },
}
