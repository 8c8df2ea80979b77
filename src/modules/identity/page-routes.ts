import type { FastifyRequest } from 'fastify'
import type { Static, TSchema } from 'typebox'
import { ApiError } from '../../errors.ts'
import { addFormPage, type Form, hidden, readForms } from '../../http/form-pages.ts'
import { type Limited, sessionCookie } from '../../http/guards.ts'
import type { Routes } from '../../http/route.ts'
import { html } from '../../kernel/html.ts'
import { callerOf } from '../../platform/rate-limits.ts'
import { forgotPassword, resetPassword } from './change-password.ts'
import type { Identity } from './deps.ts'
import { countForgotten, countLogIn } from './limits.ts'
import { setSession } from './routes.ts'
import { Forgotten, PasswordReset } from './schema.ts'
import * as identity from './service.ts'

/** The pages that mails to owners lead to: confirm an address, choose a new password. */

/** Reads the fields of a submitted form. The form itself shows the same rules in every browser. */
async function readAs<S extends TSchema>(
  shape: S,
  entered: Form,
  message: string,
): Promise<Static<S>> {
  const { Value } = await import('typebox/value')
  if (!Value.Check(shape, entered)) throw new ApiError('invalid_body', { message })
  return entered as Static<S>
}

export const pageRoutes =
  (deps: Identity, limited: Limited): Routes =>
  async (app) => {
    // The pages have a scope of their own, because no route of the API reads forms.
    await app.register(async (pages) => {
      readForms(pages)
      await verifyPages(deps, limited)(pages)
      await passwordPages(deps, limited)(pages)
    })
  }

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
        const forgotten = await readAs(Forgotten, { email }, 'Enter your e-mail address.')
        await forgotPassword(deps, forgotten.email)
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
