import type { BuyingTexts } from './en-buying.ts'

export const esBuying: BuyingTexts = {
  lowestPrice: (price) => `Precio más bajo de los últimos 30 días: ${price}`,
  plan: 'Con qué frecuencia',
  once: 'Una sola vez',
  repeated: (rhythm) => `Suscripción, ${rhythm}`,
  save: (percent) => `ahorra ${percent}`,
  delivery: (price, shipping, isTaxed) =>
    [`Cada envío: ${price}`, shipping === null ? 'con envío gratis' : `más ${shipping} de envío`]
      .join(' ')
      .concat(isTaxed ? ' e impuestos.' : '.'),
  nextDates: (dates) => `El primer envío es este pedido; los siguientes se cobran el ${dates}.`,
  anyTime: 'Puedes cambiarla, pausarla o cancelarla cuando quieras.',
  toOnce: 'Comprar solo una vez',
  toRepeated: (every) => `Enviarlo ${every}`,
  agreed: (what) =>
    `Te suscribes a ${what}. Se hará un cargo en tu tarjeta con cada envío, hasta que la canceles.`,
  confirmationTo: (email) => `Los correos sobre este pedido se envían a ${email}.`,
  subscribedTo: (what) => `Te has suscrito a ${what}.`,
  nextDelivery: (date) => `El próximo envío se cobra el ${date}.`,
  manage: 'Cambiar, pausar o cancelar la suscripción',
  giftCardsAside: 'Las tarjetas regalo no cuentan.',
  giftCardsPayNone: 'Las tarjetas regalo no se pueden pagar con una tarjeta regalo ni con saldo.',
}
