/** A person who owns stores, as a checked session shows them. */
export interface Owner {
  id: string
  email: string
  name: string
  /** Only a proven address owns stores. */
  emailVerified: boolean
  /** Ends this session; absent when an external provider vouches for the owner. */
  token?: string
}
