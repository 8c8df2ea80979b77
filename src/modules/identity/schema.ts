import { type Static, Type } from 'typebox'
import { Email, Id, Nullable, Shared, Timestamp } from '../../kernel/schema.ts'

export const OwnerView = Shared(
  'Owner',
  Type.Object({
    id: Id,
    email: Type.String(),
    name: Type.String(),
    email_verified: Type.Boolean(),
  }),
)

/** A started session and its owner. The token is shown only at sign-up and login. */
export const SessionStarted = Type.Object({
  owner: OwnerView,
  session: Type.Object({ token: Type.String({ pattern: '^fds_' }), expires_at: Timestamp }),
})
export type SessionStarted = Static<typeof SessionStarted>

export const OwnedStore = Type.Object({
  tenant_ref: Type.String(),
  display_name: Type.String(),
  status: Type.String(),
})
export type OwnedStore = Static<typeof OwnedStore>

/** The upper bound limits the cost of hashing a password. */
const Password = Type.String({ minLength: 8, maxLength: 200 })

export const SignUp = Type.Object({
  email: Email,
  password: Password,
  name: Type.String({ minLength: 1, maxLength: 200 }),
})
export type SignUp = Static<typeof SignUp>

/** A login. It accepts any text as the password: an impossible password is a wrong one. */
export const LogIn = Type.Object({
  email: Type.String({ maxLength: 254 }),
  password: Type.String({ maxLength: 200 }),
})
export type LogIn = Static<typeof LogIn>

export const Verification = Type.Object({ token: Type.String({ maxLength: 1_000 }) })

export const Forgotten = Type.Object({ email: Email })

export const PasswordReset = Type.Object({
  token: Type.String({ maxLength: 1_000 }),
  password: Password,
})
export type PasswordReset = Static<typeof PasswordReset>

export const PasswordChange = Type.Object({
  current_password: Type.String({ maxLength: 200 }),
  new_password: Password,
})
export type PasswordChange = Static<typeof PasswordChange>

export const OwnerRow = Type.Object({
  id: Id,
  email: Type.String(),
  name: Type.String(),
  password_hash: Nullable(Type.String()),
  email_verified: Type.Boolean(),
})
export type OwnerRow = Static<typeof OwnerRow>
