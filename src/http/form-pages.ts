import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors.ts'
import { type Html, html } from '../kernel/html.ts'
import { sendPage } from './page.ts'
import type { App } from './route.ts'

/**
 * Pages with a form, to which mails link. They work without script. Opening a page changes nothing, since programs
 * open the links of mails to look for dangers; only its button changes something.
 */

const FORM_TYPE = 'application/x-www-form-urlencoded'
const FORM_BYTES_MAX = 8_192

/** What a form of these pages sends, all of it text. */
export type Form = Record<string, string>

/** What the routes of pages with a form declare. */
export const FORM_PAGE = {
  config: {
    hidden: true,
    failures: [
      'csrf_required',
      'unsupported_media_type',
      'unauthorized',
      'rate_limited',
      'db_error',
    ],
  },
} as const

/** Reads forms as browsers send them, and refuses those that another site sends. */
export function readForms(app: App): void {
  app.addContentTypeParser(
    FORM_TYPE,
    { parseAs: 'string', bodyLimit: FORM_BYTES_MAX },
    async (_: FastifyRequest, text: string) => Object.fromEntries(new URLSearchParams(text)),
  )
  app.addHook('preValidation', async ({ method, headers }) => {
    if (method !== 'POST') return
    if (!isSameOrigin(headers)) throw new ApiError('csrf_required')
    const isForm = headers['content-type']?.startsWith(FORM_TYPE) ?? false
    if (!isForm) throw new ApiError('unsupported_media_type')
  })
}

/**
 * Whether our own page sent the form. A browser sends `Origin` or `Sec-Fetch-Site` with every form; a program has no
 * cookies but its own.
 */
function isSameOrigin({
  origin,
  host,
  'sec-fetch-site': site,
}: FastifyRequest['headers']): boolean {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
}

/** A page that shows a form, runs what the form asks for, and shows the form again with the error. */
export interface FormPage {
  path: string
  title: string
  form: (request: FastifyRequest, entered: Form) => Promise<Html>
  act: (request: FastifyRequest, reply: FastifyReply, entered: Form) => Promise<Html>
}

export function addFormPage(app: App, { path, title, form, act }: FormPage): void {
  const show = async (
    request: FastifyRequest,
    reply: FastifyReply,
    entered: Form,
    fault?: string,
  ) =>
    sendPage(reply, {
      title,
      isForm: true,
      body: html`${fault && html`<p class="fault" role="alert">${fault}</p>`}${await form(request, entered)}`,
    })

  app.get(path, FORM_PAGE, async (request, reply) => show(request, reply, request.query as Form))

  app.post(path, FORM_PAGE, async (request, reply) => {
    const entered = (request.body ?? {}) as Form
    try {
      const body = await act(request, reply, entered)
      return sendPage(reply, { title, body, isForm: true })
    } catch (error) {
      if (!(error instanceof ApiError) || error.status >= 500) throw error
      reply.code(error.status).headers(error.headers)
      return show(request, reply, entered, error.message)
    }
  })
}

export const hidden = (name: string, value: string | undefined) =>
  html`<input type="hidden" name="${name}" value="${value ?? ''}">`
