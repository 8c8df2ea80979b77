import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { type Limited, requireOwner } from '../../http/guards.ts'
import type { Routes } from '../../http/route.ts'
import { machineNow } from '../../kernel/clock.ts'
import { ref } from '../../kernel/schema.ts'
import { callerOf } from '../../platform/rate-limits.ts'
import * as passwords from './change-password.ts'
import type { Identity } from './deps.ts'
import { countForgotten, countLogIn, countSignUp } from './limits.ts'
import {
  Forgotten,
  LogIn,
  OwnedStore,
  OwnerView,
  PasswordChange,
  PasswordReset,
  SessionStarted,
  SignUp,
  Verification,
} from './schema.ts'
import * as identity from './service.ts'

const cookie = (value: string, maxAgeSeconds: number) =>
  `__Host-fd_session=${value}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=${maxAgeSeconds}`

/** Sets the session cookie of a browser, for as long as the session lasts. */
export function setSession(reply: FastifyReply, { session }: SessionStarted): FastifyReply {
  const left = Math.floor((Date.parse(session.expires_at) - machineNow()) / 1_000)
  return reply.header('set-cookie', cookie(session.token, left))
}

/** Clears the session cookie of a browser. */
const clearSession = (reply: FastifyReply): FastifyReply =>
  reply.header('set-cookie', cookie('', 0))

export const publicRoutes =
  (deps: Identity, limited: Limited): Routes =>
  async (app) => {
    app.post(
      '/v1/identity/signup',
      {
        config: { failures: ['email_exists', 'rate_limited', 'db_error'] },
        schema: {
          operationId: 'signUp',
          tags: ['identity'],
          summary: 'Sign up as a store owner. Creates an account and a session.',
          body: SignUp,
          response: { 201: SessionStarted },
        },
      },
      async (request, reply) => {
        const caller = callerOf(request.ip)
        await countSignUp(deps, caller)
        const started = await limited(request, () => identity.signUp(deps, caller, request.body))
        return setSession(reply, started).code(201).send(started)
      },
    )

    app.post(
      '/v1/identity/login',
      {
        config: { failures: ['unauthorized', 'rate_limited', 'db_error'] },
        schema: {
          operationId: 'logIn',
          tags: ['identity'],
          summary: 'Log in. An unknown address and a wrong password get the same answer.',
          body: LogIn,
          response: { 200: SessionStarted },
        },
      },
      async (request, reply) => {
        const caller = callerOf(request.ip)
        await countLogIn(deps, caller)
        const started = await limited(request, () => identity.logIn(deps, caller, request.body))
        return setSession(reply, started).send(started)
      },
    )

    await resetRoutes(deps, limited)(app)
  }

/** Adds the routes by which an owner who has forgotten the password chooses a new one. */
const resetRoutes =
  (deps: Identity, limited: Limited): Routes =>
  async (app) => {
    app.post(
      '/v1/identity/password/forgot',
      {
        config: { failures: ['rate_limited', 'db_error'] },
        schema: {
          operationId: 'forgotPassword',
          tags: ['identity'],
          summary:
            'Ask for a new password. Mails a token to the address if it has an account; the answer is the same if it has none.',
          body: Forgotten,
          response: { 202: Type.Object({ accepted: Type.Boolean() }) },
        },
      },
      async (request, reply) => {
        await countForgotten(deps, callerOf(request.ip))
        await passwords.forgotPassword(deps, request.body.email)
        return reply.code(202).send({ accepted: true })
      },
    )

    app.post(
      '/v1/identity/password/reset',
      {
        config: { failures: ['unauthorized', 'rate_limited', 'db_error'] },
        schema: {
          operationId: 'resetPassword',
          tags: ['identity'],
          summary: 'Choose a new password with the mailed token. Ends all sessions of the account.',
          body: PasswordReset,
          response: { 200: Type.Object({ changed: Type.Boolean() }) },
        },
      },
      async (request) => {
        const caller = callerOf(request.ip)
        await limited(request, () => passwords.resetPassword(deps, caller, request.body))
        return { changed: true }
      },
    )
  }

export const ownerRoutes =
  (deps: Identity, limited: Limited): Routes =>
  async (app) => {
    app.post(
      '/v1/identity/verify',
      {
        schema: {
          operationId: 'verifyEmail',
          tags: ['identity'],
          summary: 'Verify your e-mail address with the token that was mailed to it.',
          body: Verification,
          response: { 200: Type.Object({ verified: Type.Boolean() }) },
        },
      },
      async (request) => {
        const owner = requireOwner(request)
        await limited(request, () => identity.verifyEmail(deps, owner, request.body.token))
        return { verified: true }
      },
    )

    await sessionRoutes(deps, limited)(app)

    app.post(
      '/v1/identity/verify/resend',
      {
        schema: {
          operationId: 'resendVerification',
          tags: ['identity'],
          summary: 'Send the verification mail again.',
          response: { 202: Type.Object({ sent: Type.Boolean() }) },
        },
      },
      async (request, reply) => {
        await identity.resendVerification(deps, requireOwner(request))
        return reply.code(202).send({ sent: true })
      },
    )
  }

const sessionRoutes =
  (deps: Identity, limited: Limited): Routes =>
  async (app) => {
    app.get(
      '/v1/identity/me',
      {
        schema: {
          operationId: 'readMe',
          tags: ['identity'],
          summary: 'Read your account and the stores you own.',
          response: {
            200: Type.Object({ owner: ref(OwnerView), stores: Type.Array(OwnedStore) }),
          },
        },
      },
      async (request) => {
        const owner = requireOwner(request)
        const { id, email, name, emailVerified } = owner
        return {
          owner: { id, email, name, email_verified: emailVerified },
          stores: await identity.listOwnedStores(deps.db, owner),
        }
      },
    )

    app.post(
      '/v1/identity/logout',
      {
        schema: {
          operationId: 'logOut',
          tags: ['identity'],
          summary: 'Log out: end this session.',
          response: { 200: Type.Object({ logged_out: Type.Boolean() }) },
        },
      },
      async (request, reply) => {
        await identity.logOut(deps, requireOwner(request))
        return clearSession(reply).send({ logged_out: true })
      },
    )

    app.put(
      '/v1/identity/password',
      {
        config: { failures: ['wrong_password'] },
        schema: {
          operationId: 'changePassword',
          tags: ['identity'],
          summary: 'Change your password. Ends your other sessions; this one goes on.',
          body: PasswordChange,
          response: { 200: Type.Object({ changed: Type.Boolean() }) },
        },
      },
      async (request) => {
        const caller = callerOf(request.ip)
        const owner = requireOwner(request)
        await limited(request, () => passwords.changePassword(deps, caller, owner, request.body))
        return { changed: true }
      },
    )
  }
