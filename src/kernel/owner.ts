/** The person who owns stores, as read from a checked session. */
export interface Owner {
  id: string
  email: string
  name: string
  /** Only an owner with a verified address can own stores. */
  emailVerified: boolean
  /**
   * The token of this session, which ends it; absent when an external identity provider vouches for
   * the owner.
   */
  token?: string
}
