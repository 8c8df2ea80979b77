import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { ApiError } from '../../errors.ts'
import { type Limited, sessionCookie } from '../../http/guards.ts'
import { type Html, html } from '../../http/html.ts'
import { sendPage } from '../../http/page.ts'
import type { App, Routes } from '../../http/route.ts'
import { callerOf } from '../../platform/limits.ts'
import { forgotPassword, resetPassword } from './change-password.ts'
import type { Identity } from './deps.ts'
import { countForgotten, countLogIn } from './limits.ts'
import { setSession } from './routes.ts'
import { Forgotten, PasswordReset } from './schema.ts'
import * as identity from './service.ts'

/**
 * The pages that mails lead to: confirm an address, choose a new password. They work without script. A
 * page that is opened changes nothing, since programs open the links of mails to look for dangers; only its
 * button does.
 */

const FORM_TYPE = 'application/x-www-form-urlencoded'
const FORM_BYTES_MAX = 8_192

/** What a form of these pages sends, all of it text. */
type Form = Record<string, string>

/** Reads what was entered. The form itself says the same to every browser. */
async function readAs<S extends TSchema>(
  shape: S,
  entered: Form,
  message: string,
): Promise<Static<S>> {
  const { Value } = await import('typebox/value')
  if (!Value.Check(shape, entered)) throw new ApiError('invalid_body', { message })
  return entered as Static<S>
}

const PAGE = {
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

export const pageRoutes =
  (deps: Identity, limited: Limited): Routes =>
  async (app) => {
    // In a scope of their own: no route of the API reads forms.
    await app.register(async (pages) => {
      readForms(pages)
      await verifyPages(deps, limited)(pages)
      await passwordPages(deps, limited)(pages)
    })
  }

/** Reads forms as browsers send them, and refuses those that another site sends. */
function readForms(app: App): void {
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

/** A browser sends `Origin` or `Sec-Fetch-Site` with every form; a program has no cookies but its own. */
function isSameOrigin({
  origin,
  host,
  'sec-fetch-site': site,
}: FastifyRequest['headers']): boolean {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === host)
}

/** Shows a form, runs what it asks for, and shows it again with what was wrong. */
interface FormPage {
  path: string
  title: string
  form: (request: FastifyRequest, entered: Form) => Promise<Html>
  act: (request: FastifyRequest, reply: FastifyReply, entered: Form) => Promise<Html>
}

function addFormPage(app: App, { path, title, form, act }: FormPage): void {
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

  app.get(path, PAGE, async (request, reply) => show(request, reply, request.query as Form))

  app.post(path, PAGE, async (request, reply) => {
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

const hidden = (name: string, value: string | undefined) =>
  html`<input type="hidden" name="${name}" value="${value ?? ''}">`

const emailField = (value: string | undefined) =>
  html`<label for="email">E-mail address</label>
<input id="email" name="email" type="email" autocomplete="username" required maxlength="254" value="${value ?? ''}">`

const verifyPages =
  (deps: Identity, limited: Limited): Routes =>
  async (app) => {
    const findOwner = async (request: FastifyRequest) => {
      const token = sessionCookie(request)
      return token === '' ? null : identity.check(deps, token)
    }
    addFormPage(app, {
      path: '/account/verify',
      title: 'Confirm your e-mail address',
      form: async (request, { token, email }) => html`<form method="post">
${hidden('token', token)}
${
  (await findOwner(request)) === null &&
  html`<p>Log in to the account that you have signed up for.</p>
${emailField(email)}
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required maxlength="200">`
}
<button>Confirm</button>
</form>`,
      act: async (request, reply, { token = '', email = '', password = '' }) => {
        const caller = callerOf(request.ip)
        await limited(request, async () => {
          let owner = await findOwner(request)
          if (owner === null) {
            await countLogIn(deps, caller)
            const started = await identity.logIn(deps, caller, { email, password })
            setSession(reply, started)
            owner = await identity.check(deps, started.session.token)
          }
          if (owner === null) throw new ApiError('unauthorized')
          await identity.verifyEmail(deps, owner, token)
        })
        return html`<p>Your address is confirmed. You now own the stores that were created for it.</p>`
      },
    })
  }

const passwordPages =
  (deps: Identity, limited: Limited): Routes =>
  async (app) => {
    addFormPage(app, {
      path: '/account/password',
      title: 'Forgotten your password?',
      form: async (_, { email }) => html`<p>We mail you a link to choose a new one.</p>
<form method="post">
${emailField(email)}
<button>Send the link</button>
</form>`,
      act: async (request, _, { email = '' }) => {
        await countForgotten(deps, callerOf(request.ip))
        const asked = await readAs(Forgotten, { email }, 'Enter your e-mail address.')
        await forgotPassword(deps, asked.email)
        return html`<p>If ${email} has an account, a mail is on its way. Its link is valid for an hour.</p>`
      },
    })

    addFormPage(app, {
      path: '/account/password/new',
      title: 'Choose a new password',
      form: async (_, { token }) => html`<form method="post">
${hidden('token', token)}
<label for="password">New password</label>
<input id="password" name="password" type="password" autocomplete="new-password" required minlength="8" maxlength="200" aria-describedby="rule">
<p class="quiet" id="rule">At least 8 characters.</p>
<button>Change the password</button>
</form>`,
      act: async (request, _, entered) => {
        const rule = 'Enter a password of 8 to 200 characters.'
        const reset = await readAs(PasswordReset, entered, rule)
        await limited(request, () => resetPassword(deps, callerOf(request.ip), reset))
        return html`<p>Your password is changed, and all sessions of your account have ended. You can log in with the new one.</p>`
      },
    })
  }
