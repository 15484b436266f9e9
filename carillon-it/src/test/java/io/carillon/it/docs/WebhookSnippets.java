package io.carillon.it.docs;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.standardwebhooks.Webhook;
import io.carillon.Carillon;
import io.carillon.run.RunId;
import io.carillon.schedule.When;
import io.carillon.seal.Keyring;
import io.carillon.seal.Secret;
import io.carillon.server.CarillonServer;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.store.AttemptRecord;
import io.carillon.webhook.Delivery;
import io.carillon.webhook.Verdict;
import io.carillon.webhook.WebhookTarget;
import io.carillon.webhook.Webhooks;
import io.carillon.webhook.guard.GuardPolicy;
import java.net.http.HttpHeaders;
import java.nio.file.Path;
import java.util.List;
import javax.sql.DataSource;

/** Every Java line of the page on webhooks, compiled. {@link SnippetsTest} holds the page to it. */
@SuppressWarnings("unused")
final class WebhookSnippets {
    // spotless:off
    interface Vault { List<Secret> valuesOf(String project, String name); }

    private WebhookSnippets() {}

    static void start(DataSource dataSource, Vault vault) {
Webhooks webhooks = Webhooks.builder()
    .secrets((project, name) -> vault.valuesOf(project, name))   // newest first; two while you rotate
    .build();
Carillon carillon = webhooks.handleOn(Carillon.on(dataSource)).start();

WebhookTarget target = WebhookTarget.post("https://hooks.example.com/orders")
    .signedWith("orders")                                        // the name of a secret, never the secret
    .body("{\"order\": 17}");
carillon.enqueue(Webhooks.TYPE, target);
carillon.schedules().upsert("hourly-ping", When.cron("0 * * * *", "UTC"), Webhooks.TYPE, target);
    }

    static void server(DataSource dataSource, DataSource requests) {
ServerWebhooks webhooks = ServerWebhooks.on(dataSource).keys(Keyring.fromFile(Path.of("master.keys"))).build();
Carillon carillon = webhooks.handleOn(Carillon.on(dataSource)).start();
CarillonServer server = CarillonServer.on(carillon, requests).webhooks(webhooks.check()).start();
    }

    static void verify(String body, HttpHeaders headers) throws Exception {
new Webhook("whsec_…").verify(body, headers);   // throws unless one of the signatures is right and the timestamp is near
    }

    static void show(int status, String body) {}

    static void answers(Carillon carillon, RunId id) {
Delivery last = Delivery.in(carillon.runs().get(id).orElseThrow().details().delivery()).orElseThrow();
for (AttemptRecord attempt : carillon.runs().attempts(id))
    Delivery.in(attempt.delivery()).ifPresent(earlier -> show(earlier.status(), earlier.body()));
    }

    static void switchOff(String project, String url) {}

    static void listener() {
Webhooks webhooks = Webhooks.builder()
    .listener((envelope, target, delivery) -> {
        if (delivery.verdict() == Verdict.GONE) switchOff(envelope.project(), target.url());
    })
    .build();
    }

    static void longWork(Carillon carillon, RunId id, int attempt, String token) {
boolean recorded = carillon.runs().complete(id, attempt, token);
boolean failed = carillon.runs().fail(id, attempt, token, "no space left");   // tried again by the retry rule
    }

    static void byHand(Webhooks webhooks, WebhookTarget target, RunId id) throws InterruptedException {
Delivery tried = webhooks.test("default", target);           // a message of its own
Delivery again = webhooks.replay("default", id, target);     // under the id of a run, for a receiver that lost it
    }

    static void guard() {
Webhooks webhooks = Webhooks.builder()
    .guard(GuardPolicy.defaults()
        .allow("hooks.internal:9000", "10.20.0.0/16")   // exempt from all of the above
        .deny("198.51.0.0/16")                          // never, whatever else says
        .ports(9443))                                   // anywhere
    .build();
    }

    static void secrets(String secret) {
Keyring keys = Keyring.fromFile(Path.of("/etc/carillon/keys"));         // or fromEnvironment("CARILLON_KEYS")
String sealed = keys.seal(secret.getBytes(UTF_8), "shop|webhook|orders");
byte[] opened = keys.open(sealed, "shop|webhook|orders").orElseThrow();
    }
    // spotless:on
}
