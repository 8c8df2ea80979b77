import { type Static, Type } from 'typebox'
import { Id, Nullable, Shared, TenantRef, Timestamp } from '../../kernel/schema.ts'
import { SCOPES } from '../../kernel/scopes.ts'

const Scopes = Type.Array(Type.Enum([...SCOPES]))

/** A merchant key as it is stored: everything but the secret. */
export const Credential = Shared(
  'Credential',
  Type.Object({
    id: Id,
    label: Type.String(),
    scopes: Scopes,
    key_hint: Type.String({
      description: 'The first characters of the key, which are not secret.',
    }),
    created_at: Timestamp,
    expires_at: Nullable(Timestamp),
    revoked_at: Nullable(Timestamp),
  }),
)
export type Credential = Static<typeof Credential>

/** The only answer that has the key. */
export const IssuedCredential = Shared(
  'IssuedCredential',
  Type.Object({
    credential: Type.Object({
      id: Id,
      key: Type.String({ pattern: '^fdk_' }),
      label: Type.String(),
      scopes: Scopes,
      expires_at: Nullable(Timestamp),
    }),
  }),
)
export type IssuedCredential = Static<typeof IssuedCredential>

const Label = Type.String({ minLength: 1, maxLength: 80 })

/** Scopes are any text here: an unknown one has its own error code. */
export const NewCredential = Type.Object({
  label: Label,
  scopes: Type.Array(Type.String(), { minItems: 1, maxItems: 100 }),
  expires_at: Type.Optional(Nullable(Timestamp)),
})
export type NewCredential = Static<typeof NewCredential>

export const InitialCredential = Type.Object({
  tenant_ref: Type.Optional(TenantRef),
  label: Type.Optional(Label),
})
export type InitialCredential = Static<typeof InitialCredential>

export const Revocation = Type.Object({
  credential: Credential,
  alreadyRevoked: Type.Boolean(),
  selfRevoked: Type.Boolean(),
})

/** A key as the gate role finds it, before its store is known. */
export const FoundCredential = Type.Object({
  tenant_ref: Type.String(),
  id: Id,
  scopes: Scopes,
  secret_hash: Type.Unsafe<Buffer>({}),
  active: Type.Boolean(),
})

export const Stage = Type.Enum(['pre_live', 'live'])
export type Stage = Static<typeof Stage>
