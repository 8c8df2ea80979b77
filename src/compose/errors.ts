import { type ErrorCode, type ErrorText, SHARED_ERRORS, type SharedCode } from '../error-codes.ts'
import { joinNamed } from './join.ts'
import { type AREAS, MODULES } from './modules.ts'

type Faces = (typeof AREAS)[number]['modules'][number]

/** The codes in the faces. Were a module to leave out its `errors`, its codes would be missing below. */
type NamedCode<Each> = Each extends { errors: infer Table } ? keyof Table & string : never

/** Every error that the API answers with: the contract's error table. */
export const ERRORS: Readonly<Record<ErrorCode, ErrorText>> = joinNamed<
  ErrorText,
  SharedCode | NamedCode<Faces>
>([SHARED_ERRORS, ...MODULES.map(({ errors }) => errors)])
