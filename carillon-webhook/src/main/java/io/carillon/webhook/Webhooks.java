package io.carillon.webhook;

import io.carillon.CarillonBuilder;
import io.carillon.CarillonException;
import io.carillon.HandlerOptions;
import io.carillon.run.CallbackToken;
import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.run.Retry;
import io.carillon.run.RunContext;
import io.carillon.run.RunId;
import io.carillon.webhook.guard.AddressGuard;
import io.carillon.webhook.hosts.HostLimiter;
import io.carillon.webhook.send.SendResult;
import io.carillon.webhook.send.Sender;
import io.carillon.webhook.send.WebhookRequest;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sender of webhooks: the handler of webhook runs, and of single tests and replays. Every request passes the
 * address guard and has a timeout; a request to an endpoint with a signing secret is signed according to Standard
 * Webhooks. Thread-safe; close it after the Carillon it serves.
 */
public final class Webhooks implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(Webhooks.class);
    private static final Duration DEFAULT_SLOW_DOWN = Duration.ofSeconds(1);
    /** How long a message waits whose endpoint could not be read. */
    private static final Duration UNREADABLE_PAUSE = Duration.ofSeconds(5);
    /** The timeout of an attempt is the one of its target. */
    private static final Duration MAX_TIME = Duration.ofSeconds(60);

    /**
     * The name and payload type of the handler. Use it to enqueue and schedule webhooks. Messages to an endpoint use
     * the queue of the endpoint.
     */
    public static final HandlerType<WebhookTarget> TYPE =
            HandlerType.of("webhook", WebhookTarget.class).payloadQueue(WebhookTarget::queue);

    private final RequestFactory requests;
    private final DeliveryListener listener;
    private final Duration maxPause;
    private final Duration manualTimeout;
    private final Sender sender;
    private final HostLimiter hosts;

    Webhooks(WebhooksBuilder builder) {
        this.requests = new RequestFactory(builder.endpointSource());
        this.listener = builder.listener;
        this.maxPause = builder.maxPause;
        this.manualTimeout = builder.manualTimeout;
        this.sender = new Sender(new AddressGuard(builder.addressPolicy), builder.resolver, builder.tls);
        this.hosts = new HostLimiter(builder.hostLimits);
    }

    /** Returns a builder whose defaults are: public addresses only, no endpoints. */
    public static WebhooksBuilder builder() {
        return new WebhooksBuilder();
    }

    /**
     * Returns the default options of the handler of webhook runs: the queue {@code webhooks} for URLs, kept payloads, a
     * timeout of two minutes and twelve attempts over one to two days.
     */
    public static HandlerOptions defaultOptions() {
        Retry retry = Retry.exponential(Duration.ofSeconds(5))
                .factor(4)
                .cap(Duration.ofHours(10))
                .attempts(12);
        return HandlerOptions.defaults()
                .queue("webhooks")
                .keepPayload(true)
                .timeout(Duration.ofMinutes(2))
                .retry(retry);
    }

    /** Registers the handler of webhook runs on a builder, with {@link #defaultOptions()}. */
    public CarillonBuilder registerOn(CarillonBuilder carillon) {
        return registerOn(carillon, defaultOptions());
    }

    /**
     * Like {@link #registerOn(CarillonBuilder)}, but with other options. To change some of the defaults, start from
     * {@link #defaultOptions()}.
     */
    public CarillonBuilder registerOn(CarillonBuilder carillon, HandlerOptions options) {
        return carillon.handleReturning(TYPE, this::deliver, options);
    }

    private Outcome deliver(WebhookTarget target, RunContext run) throws InterruptedException {
        DeliveryMetadata metadata = DeliveryMetadata.ofRun(run);
        CallbackToken callbackToken = CallbackToken.generate();
        Result result = send(metadata, target, callbackToken, MAX_TIME);
        run.recordDelivery(result.delivery().toText());
        notifyListener(metadata, target, result.delivery());
        return ResponseClassifier.outcome(result.target(), result.delivery(), callbackToken);
    }

    /** Sends a webhook once, immediately, with a new message id, to test it. No run is created. */
    public Delivery test(String project, WebhookTarget target) throws InterruptedException {
        return send(DeliveryMetadata.manual(project, RunId.generate()), target, null, manualTimeout)
                .delivery();
    }

    /**
     * Sends a webhook once, immediately, with the id of a run, for a receiver that lost the message. The run
     * does not change.
     */
    public Delivery replay(String project, RunId run, WebhookTarget target) throws InterruptedException {
        return send(DeliveryMetadata.manual(project, run), target, null, manualTimeout)
                .delivery();
    }

    /**
     * The result of sending a message.
     *
     * @param target the message with the settings of its endpoint; the message itself if it could not be sent
     */
    private record Result(WebhookTarget target, Delivery delivery) {}

    private Result send(
            DeliveryMetadata metadata, WebhookTarget message, @Nullable CallbackToken callbackToken, Duration maxTime)
            throws InterruptedException {
        RequestFactory.PreparedRequest prepared;
        try {
            prepared = requests.prepare(metadata, message, callbackToken, maxTime);
        } catch (CarillonException unusable) {
            return new Result(message, unsent(unusable));
        }
        Delivery delivery = send(metadata, prepared.target(), prepared.request());
        return new Result(prepared.target(), delivery.withUrl(prepared.calledUrl()));
    }

    /** A message whose endpoint cannot be read now is sent later. That is not a failure of the message. */
    private static Delivery unsent(CarillonException cause) {
        return switch (cause.code()) {
            case DATABASE_UNREACHABLE, STORAGE ->
                Delivery.unsent(Verdict.HELD_BACK, "the endpoint could not be read", UNREADABLE_PAUSE);
            default -> Delivery.unsent(Verdict.NOT_SENDABLE, String.valueOf(cause.getMessage()), null);
        };
    }

    private Delivery send(DeliveryMetadata metadata, WebhookTarget target, WebhookRequest request)
            throws InterruptedException {
        // Limits are per project and host: requests of one project must not prevent those of another.
        HostLimiter.Admission admission =
                hosts.tryAcquire(metadata.project() + " " + target.address().hostAndPort());
        if (admission instanceof HostLimiter.Admission.Deferred deferred)
            return Delivery.unsent(
                    Verdict.HELD_BACK, "the host is at its limit, is paused, or its breaker is open", deferred.pause());
        HostLimiter.Admission.Admitted admitted = (HostLimiter.Admission.Admitted) admission;
        Delivery delivery = null;
        try {
            long start = System.nanoTime();
            SendResult result = sender.send(metadata.project(), request);
            long millis = (System.nanoTime() - start) / 1_000_000;
            delivery = ResponseClassifier.classify(target, result, metadata.now(), maxPause, millis);
            return delivery;
        } finally {
            release(admitted, delivery);
        }
    }

    /** Counts a delivery for the breaker of its host, unless this node did not send it or was interrupted. */
    private static void release(HostLimiter.Admission.Admitted admitted, @Nullable Delivery delivery) {
        if (delivery == null || delivery.verdict() == Verdict.HELD_BACK) {
            admitted.cancel();
            return;
        }
        boolean hostFailed = delivery.verdict().isHostFailure() || delivery.status() >= 500;
        admitted.release(hostFailed, delivery.verdict() == Verdict.SLOW_DOWN ? slowDownOf(delivery) : Duration.ZERO);
    }

    private static Duration slowDownOf(Delivery delivery) {
        Duration pause = delivery.pause();
        return pause == null ? DEFAULT_SLOW_DOWN : pause;
    }

    private void notifyListener(DeliveryMetadata metadata, WebhookTarget target, Delivery delivery) {
        try {
            listener.onDelivery(metadata, target, delivery);
        } catch (RuntimeException broken) {
            log.warn("delivery listener failed run={}", metadata.id(), broken);
        }
    }

    @Override
    public void close() {
        sender.close();
    }
}
