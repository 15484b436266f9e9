package io.carillon.webhook;

/** Hears of each delivery of a run, on the thread that made it and before the run's end is written. What it throws is logged and changes nothing. */
@FunctionalInterface
public interface DeliveryListener {
    /** A delivery was made or held back. On {@link Verdict#GONE} whoever owns the webhook should switch it off. */
    void delivered(Envelope envelope, WebhookTarget target, Delivery delivery);
}
