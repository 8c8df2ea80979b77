import { type Static, Type } from 'typebox'
import { Id, Nullable, Shared, Timestamp } from '../../kernel/schema.ts'

export const DOMAIN_STATUSES = [
  'pending_verification',
  'verified',
  'provisioning',
  'active',
  'failed',
  'removed',
] as const
export const DomainStatus = Type.Enum([...DOMAIN_STATUSES])
export type DomainStatus = Static<typeof DomainStatus>

/** Why the last check failed. None of these deactivates an active hostname. */
export const CHECK_ERRORS = [
  'record_not_found',
  'dns_unavailable',
  'record_lapsed',
  'hostname_taken',
] as const

const domainFields = {
  id: Id,
  hostname: Type.String(),
  status: DomainStatus,
  verification: Type.Object({
    type: Type.Enum(['txt']),
    name: Type.String(),
    value: Type.String(),
  }),
  tls_status: Type.Enum(['pending', 'external'], {
    description:
      'TLS ends at a proxy in front of the platform: `external` once the hostname is active.',
  }),
  last_checked_at: Nullable(Timestamp),
  last_error: Nullable(Type.Enum([...CHECK_ERRORS])),
  is_primary: Type.Boolean(),
  verified_at: Nullable(Timestamp),
  activated_at: Nullable(Timestamp),
  lapsed_at: Nullable(Timestamp),
  removed_at: Nullable(Timestamp),
  quarantined_until: Nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
}

/** A hostname of a store, as the database stores it. */
export const DomainRow = Type.Object(domainFields)
export type DomainRow = Static<typeof DomainRow>

/** A hostname of a store, as the API answers it. */
export const Domain = Shared(
  'Domain',
  Type.Object({
    ...domainFields,
    dns_target: Type.String({ description: 'The target that the hostname must point to in DNS.' }),
  }),
)
export type Domain = Static<typeof Domain>

/** Accepts any text: an invalid hostname has an error code of its own. */
export const NewDomain = Type.Object({ hostname: Type.String() })

/** The store that holds a hostname: active for it, or (`removed`) quarantined for it. */
export const Holder = Type.Object({ tenant_ref: Type.String(), status: DomainStatus })

/** The domain of a check, with the members that tell whether another check has overtaken it. */
export const CheckSubject = Type.Object({
  id: Id,
  hostname: Type.String(),
  status: DomainStatus,
  verification: domainFields.verification,
  last_checked_at: Nullable(Timestamp),
})
export type CheckSubject = Static<typeof CheckSubject>
