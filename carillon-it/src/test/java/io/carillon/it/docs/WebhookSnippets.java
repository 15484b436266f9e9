package io.carillon.it.docs;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.standardwebhooks.Webhook;
import io.carillon.Carillon;
import io.carillon.run.AttemptRecord;
import io.carillon.run.RunId;
import io.carillon.schedule.When;
import io.carillon.server.CarillonServer;
import io.carillon.server.hooks.ServerWebhooks;
import io.carillon.spi.Keyring;
import io.carillon.spi.Secret;
import io.carillon.webhook.Delivery;
import io.carillon.webhook.Endpoint;
import io.carillon.webhook.Verdict;
import io.carillon.webhook.WebhookTarget;
import io.carillon.webhook.Webhooks;
import io.carillon.webhook.guard.AddressPolicy;
import io.carillon.webhook.sign.SigningSecret;
import java.net.http.HttpHeaders;
import java.nio.file.Path;
import java.util.List;
import javax.sql.DataSource;

/** Every Java line of the page on webhooks, compiled. {@link SnippetsTest} compares the page with this file. */
@SuppressWarnings("unused")
final class WebhookSnippets {
    // spotless:off
    interface SecretManager { List<Secret> valuesOf(String name); }

    private WebhookSnippets() {}

    static void start(DataSource dataSource, SecretManager secretManager) {
Webhooks webhooks = Webhooks.builder()
    .endpoint(Endpoint.named("orders", "https://hooks.example.com/orders")
        .signedWith(() -> secretManager.valuesOf("orders")))     // newest first; two during a rotation
    .build();
Carillon carillon = webhooks.registerOn(Carillon.on(dataSource)).start();

WebhookTarget message = WebhookTarget.to("orders").body("{\"order\": 17}");
carillon.enqueue(Webhooks.TYPE, message);
carillon.schedules().upsert("hourly-ping", When.cron("0 * * * *", "UTC"), Webhooks.TYPE, message);
carillon.enqueue(Webhooks.TYPE, WebhookTarget.post("https://other.example.com/"));   // a URL, without secrets
    }

    static void server(DataSource dataSource, DataSource requests) {
ServerWebhooks webhooks = ServerWebhooks.on(dataSource).keys(Keyring.fromFile(Path.of("master.keys"))).build();
Carillon carillon = webhooks.handleOn(Carillon.on(dataSource)).start();
CarillonServer server = CarillonServer.on(carillon, requests).webhooks(webhooks.checkSecrets()).start();
    }

    static void verify(String body, HttpHeaders headers) throws Exception {
new Webhook("whsec_…").verify(body, headers);   // throws unless a signature is valid and the timestamp is recent
    }

    static void show(int status, String body) {}

    static void answers(Carillon carillon, RunId id) {
Delivery last = Delivery.parse(carillon.runs().get(id).orElseThrow().details().delivery()).orElseThrow();
for (AttemptRecord attempt : carillon.runs().attempts(id))
    Delivery.parse(attempt.delivery()).ifPresent(earlier -> show(earlier.status(), earlier.body()));
    }

    static void switchOff(String project, WebhookTarget target) {}

    static void listener() {
Webhooks webhooks = Webhooks.builder()
    .listener((deliveryMetadata, target, delivery) -> {
        if (delivery.verdict() == Verdict.GONE) switchOff(deliveryMetadata.project(), target);
    })
    .build();
    }

    static void longWork(Carillon carillon, RunId id, int attempt, String token) {
boolean recorded = carillon.runs().complete(id, attempt, token);
boolean failed = carillon.runs().fail(id, attempt, token, "no space left");   // retried by the retry rule
    }

    static void byHand(Webhooks webhooks, WebhookTarget target, RunId id) throws InterruptedException {
Delivery tried = webhooks.test("default", target);           // a new message
Delivery again = webhooks.replay("default", id, target);     // the message of a run, again under the run's id
    }

    static void guard() {
Webhooks webhooks = Webhooks.builder()
    .addressPolicy(AddressPolicy.defaults()
        .allow("hooks.internal:9000", "10.20.0.0/16")   // exempt from all rules above
        .deny("198.51.0.0/16")                          // never allowed, whatever the other rules say
        .ports(9443))                                   // allowed for every host
    .build();
    }

    static void store(String secret) {}

    static void signingSecrets() {
SigningSecret shared = SigningSecret.generate();
SigningSecret keyPair = SigningSecret.generateEd25519();
store(keyPair.reveal());                              // whsk_…, for your endpoint only
String forReceivers = keyPair.publicKey().orElseThrow();   // whpk_…
    }

    static void secrets(String secret) {
Keyring keys = Keyring.fromFile(Path.of("/etc/carillon/keys"));         // or fromEnvironment("CARILLON_KEYS")
String sealed = keys.seal(secret.getBytes(UTF_8), "shop|webhook|orders");
byte[] opened = keys.open(sealed, "shop|webhook|orders").orElseThrow();
    }
    // spotless:on
}
