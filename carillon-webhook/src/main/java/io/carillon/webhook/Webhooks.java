package io.carillon.webhook;

import io.carillon.CarillonBuilder;
import io.carillon.CarillonException;
import io.carillon.HandlerOptions;
import io.carillon.Health;
import io.carillon.event.Event;
import io.carillon.event.EventId;
import io.carillon.run.CallbackToken;
import io.carillon.run.HandlerType;
import io.carillon.run.Outcome;
import io.carillon.run.Payload;
import io.carillon.run.Retry;
import io.carillon.run.RunContext;
import io.carillon.run.RunId;
import io.carillon.webhook.guard.AddressGuard;
import io.carillon.webhook.hosts.HostLimiter;
import io.carillon.webhook.hosts.ProjectHost;
import io.carillon.webhook.send.SendResult;
import io.carillon.webhook.send.Sender;
import io.carillon.webhook.send.WebhookRequest;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.UnaryOperator;
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
    private volatile BiFunction<String, EventId, Optional<Payload>> eventData = (project, event) -> Optional.empty();

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
        return carillon.healthIssues(this::openBreakers)
                .onBuilt(built -> eventData = (project, event) ->
                        built.project(project).events().get(event).map(Event::data))
                .handleReturning(TYPE, this::deliver, options);
    }

    private List<Health.Issue> openBreakers() {
        return hosts.openBreakers().entrySet().stream()
                .map(open -> new Health.Issue(
                        Health.Kind.BREAKER_OPEN,
                        ("the breaker of host '%s' of project '%s' is open on this node because most requests failed:"
                                        + " the next one is sent in %d s")
                                .formatted(
                                        open.getKey().host(),
                                        open.getKey().project(),
                                        open.getValue().toSeconds())))
                .toList();
    }

    private Outcome deliver(WebhookTarget target, RunContext run) throws InterruptedException {
        DeliveryMetadata metadata = DeliveryMetadata.ofRun(run);
        CallbackToken callbackToken = CallbackToken.generate();
        Result result = send(metadata, target, callbackToken, total -> attemptTimeout(total, run));
        result.retry().ifPresent(run::retryBy);
        Delivery delivery = result.delivery();
        if (delivery.hostWorks()) run.countAsSuccessForBreaker();
        if (delivery.verdict() == Verdict.HELD_BACK)
            delivery = delivery.withPause(HoldBackPause.of(delivery.pause(), run.attempt() - 1 - run.failures()));
        run.recordDelivery(delivery.toText());
        notifyListener(metadata, target, delivery);
        return ResponseClassifier.outcome(result.target(), delivery, callbackToken);
    }

    /** Returns the timeout of the run if it has one, within the limits of a request, or else that of the target. */
    private static Duration attemptTimeout(Duration ofTarget, RunContext run) {
        Duration ofRun = run.policy().timeout();
        return ofRun == null ? ofTarget : WebhookTarget.Timeouts.withinLimits(ofRun);
    }

    private Duration manualTimeout(Duration ofTarget) {
        return ofTarget.compareTo(manualTimeout) <= 0 ? ofTarget : manualTimeout;
    }

    /** Sends a webhook once, immediately, with a new message id, to test it. No run is created. */
    public Delivery test(String project, WebhookTarget target) throws InterruptedException {
        return send(DeliveryMetadata.manual(project, RunId.generate()), target, null, this::manualTimeout)
                .delivery();
    }

    /**
     * Sends a webhook once, immediately, with the id of a run, for a receiver that lost the message. The run
     * does not change.
     */
    public Delivery replay(String project, RunId run, WebhookTarget target) throws InterruptedException {
        return send(DeliveryMetadata.manual(project, run), target, null, this::manualTimeout)
                .delivery();
    }

    /**
     * The result of sending a message.
     *
     * @param target the message with the settings of its endpoint; the message itself if it could not be sent
     * @param retry how its endpoint wants the run retried; empty if there is no such setting
     */
    private record Result(WebhookTarget target, Delivery delivery, Optional<Retry> retry) {}

    private Result send(
            DeliveryMetadata metadata,
            WebhookTarget message,
            @Nullable CallbackToken callbackToken,
            UnaryOperator<Duration> timeout)
            throws InterruptedException {
        // The queue of an endpoint has a breaker. URLs share a queue, so the breaker of each host replaces it.
        boolean withBreaker = message.endpoint() == null;
        if (withBreaker) {
            Optional<HostLimiter.Admission.Deferred> parked = hosts.parkIfOpen(hostOf(metadata, message));
            if (parked.isPresent()) return new Result(message, heldBack(parked.get()), Optional.empty());
        }
        RequestFactory.PreparedRequest prepared;
        try {
            WebhookTarget expanded = CloudEvents.expand(metadata.project(), message, eventData);
            prepared = requests.prepare(metadata, expanded, callbackToken, timeout);
        } catch (CarillonException unusable) {
            return new Result(message, unsent(unusable), Optional.empty());
        }
        Delivery delivery = send(metadata, prepared.target(), prepared.request(), withBreaker);
        return new Result(prepared.target(), delivery.withUrl(prepared.calledUrl()), prepared.retry());
    }

    /** A message whose endpoint cannot be read now is sent later. That is not a failure of the message. */
    private static Delivery unsent(CarillonException cause) {
        return switch (cause.code()) {
            case DATABASE_UNREACHABLE, STORAGE ->
                Delivery.unsent(Verdict.HELD_BACK, "the endpoint could not be read", UNREADABLE_PAUSE);
            default -> Delivery.unsent(Verdict.NOT_SENDABLE, String.valueOf(cause.getMessage()), null);
        };
    }

    private static ProjectHost hostOf(DeliveryMetadata metadata, WebhookTarget target) {
        return new ProjectHost(metadata.project(), target.address().hostAndPort());
    }

    private static Delivery heldBack(HostLimiter.Admission.Deferred deferred) {
        return Delivery.unsent(Verdict.HELD_BACK, deferred.reason(), deferred.pause());
    }

    private Delivery send(DeliveryMetadata metadata, WebhookTarget target, WebhookRequest request, boolean withBreaker)
            throws InterruptedException {
        HostLimiter.Admission admission = hosts.tryAcquire(hostOf(metadata, target), withBreaker);
        if (admission instanceof HostLimiter.Admission.Deferred deferred) return heldBack(deferred);
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
        admitted.release(
                !delivery.hostWorks(), delivery.verdict() == Verdict.SLOW_DOWN ? slowDownOf(delivery) : Duration.ZERO);
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
