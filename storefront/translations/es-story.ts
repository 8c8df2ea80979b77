import type { StoryTexts } from './en-story.ts'

export const esStory: StoryTexts = {
  preparing: 'Estamos preparando su pedido',
  preparingNext: 'Le escribiremos en cuanto salga.',
  packed: 'Su pedido está embalado',
  packedNext: 'Sale pronto. Le escribiremos entonces.',
  partlyShipped: 'Una parte de su pedido está en camino',
  partlyShippedNext: 'El resto llegará después. Le escribiremos cuando salga.',
  shipped: 'Su pedido está en camino',
  shippedNext: 'Aquí verá cuándo ha llegado.',
  shippedWith: (carrier) => `Lo lleva ${carrier}.`,
  delivered: 'Su pedido ha llegado',
  deliveredNext: 'Esperamos que le guste.',
  deliveredUntil: (date) => `¿Algo no está bien? Puede devolverlo hasta el ${date}.`,
  mailed: 'Enviado por correo electrónico',
  mailedLater: 'Se enviará por correo electrónico',
  giftCard: (count) =>
    count === 1
      ? 'Su tarjeta regalo está en camino por correo electrónico'
      : 'Sus tarjetas regalo están en camino por correo electrónico',
  giftCardTo: (recipients) => `Para: ${recipients}.`,
  giftCardToYou: 'El código llega a su propia dirección de correo electrónico.',
  giftCardOn: (count, date) =>
    count === 1
      ? `Su tarjeta regalo se enviará el ${date}`
      : `Sus tarjetas regalo se enviarán a partir del ${date}`,
  giftCardOnNext: 'Hasta entonces no tiene que hacer nada.',
  refundedNext: (amount) =>
    `Se han reembolsado ${amount} en el método de pago original. Puede tardar algunos días en verse.`,
  nothingPaid: 'No se ha cobrado nada.',
  refundedOf: (amount, total) => `${amount} de ${total} reembolsados`,
  refundedAll: (amount) => `${amount} reembolsados`,
  change: 'Cambiar algo',
}
