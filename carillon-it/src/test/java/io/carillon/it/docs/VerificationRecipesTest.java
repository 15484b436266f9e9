package io.carillon.it.docs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import com.sun.net.httpserver.HttpServer;
import io.carillon.it.architecture.SourceTree;
import io.carillon.spi.Secret;
import io.carillon.webhook.Delivery;
import io.carillon.webhook.Endpoint;
import io.carillon.webhook.Verdict;
import io.carillon.webhook.WebhookTarget;
import io.carillon.webhook.Webhooks;
import io.carillon.webhook.guard.AddressPolicy;
import io.carillon.webhook.sign.SigningSecret;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs the recipes of docs/webhooks.md that verify a message, on a message that Carillon has sent. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class VerificationRecipesTest {
    /** Prints one line for each case: the key, the id, the timestamp, the signatures and the Base64 of the body. */
    private static final String NODE_CALLER = """
            import { verify } from "./verify.mjs";
            const values = process.argv.slice(2);
            for (let i = 0; i < values.length; i += 5) {
              const [key, id, timestamp, signatures, body] = values.slice(i, i + 5);
              const headers = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures };
              console.log(verify(key, headers, Buffer.from(body, "base64")));
            }
            """;

    private static final String PYTHON_CALLER = """
            import base64, sys
            from verify import verify
            values = sys.argv[1:]
            for i in range(0, len(values), 5):
                key, id, timestamp, signatures, body = values[i:i + 5]
                headers = {"webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures}
                print(str(verify(key, headers, base64.b64decode(body))).lower())
            """;

    private static final String BODY = "{\"text\": \"gr\u00FC\u00DFe \uD83D\uDD14\", \"n\": 1.10}";
    private static final SigningSecret SHARED = SigningSecret.generate();
    private static final SigningSecret KEY_PAIR = SigningSecret.generateEd25519();

    private record Message(String id, String timestamp, String signatures, String body) {}

    /** A call of a recipe, and what it must return. */
    private record Case(String name, String key, Message message, boolean valid) {}

    private static Message sent;

    @TempDir
    Path folder;

    @BeforeAll
    static void send() throws Exception {
        CompletableFuture<Message> received = new CompletableFuture<>();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
        server.createContext("/", exchange -> {
            received.complete(new Message(
                    exchange.getRequestHeaders().getFirst("webhook-id"),
                    exchange.getRequestHeaders().getFirst("webhook-timestamp"),
                    exchange.getRequestHeaders().getFirst("webhook-signature"),
                    new String(exchange.getRequestBody().readAllBytes(), UTF_8)));
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        try (Webhooks webhooks = Webhooks.builder()
                .addressPolicy(AddressPolicy.defaults().allow("127.0.0.0/8"))
                .endpoint(Endpoint.named(
                                "both",
                                "http://127.0.0.1:" + server.getAddress().getPort() + "/")
                        .signedWith(() -> List.of(Secret.of(KEY_PAIR.reveal()), Secret.of(SHARED.reveal()))))
                .build()) {
            Delivery delivery =
                    webhooks.test("default", WebhookTarget.to("both").body(BODY));
            assertThat(delivery.verdict()).isEqualTo(Verdict.DELIVERED);
        } finally {
            server.stop(0);
        }
        sent = received.get();
    }

    @Test
    void java_accepts_the_message_and_refuses_changed_ones() throws Exception {
        String source = extract("WebhookVerifier.java").toString();
        String target = folder.toString();
        int status = ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-Xlint:all", "-Werror", "-proc:none", "-cp", target, "-d", target, source);
        assertThat(status).as("exit code of javac").isZero();

        List<String> results = new ArrayList<>();
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {folder.toUri().toURL()})) {
            var verify = loader.loadClass("WebhookVerifier")
                    .getMethod("verify", String.class, String.class, String.class, String.class, byte[].class);
            for (Case one : cases(true)) {
                Message message = one.message();
                results.add(String.valueOf(verify.invoke(
                        null,
                        one.key(),
                        message.id(),
                        message.timestamp(),
                        message.signatures(),
                        message.body().getBytes(UTF_8))));
            }
        }

        check(cases(true), results);
    }

    @Test
    void node_accepts_the_message_and_refuses_changed_ones() throws Exception {
        Path node = requireOnPath("node");
        extract("verify.mjs");
        Path caller = Files.writeString(folder.resolve("caller.mjs"), NODE_CALLER);

        check(cases(true), run(node, caller, cases(true)));
    }

    @Test
    void python_accepts_the_message_and_refuses_changed_ones() throws Exception {
        Path python = requireOnPath("python3");
        extract("verify.py");
        Path caller = Files.writeString(folder.resolve("caller.py"), PYTHON_CALLER);
        boolean ed25519 =
                exec(List.of(python.toString(), "-c", "import cryptography")).status() == 0;
        if (!ed25519)
            System.out.println("VerificationRecipesTest: Ed25519 in Python skipped: package cryptography not found");

        check(cases(ed25519), run(python, caller, cases(ed25519)));
    }

    private static List<Case> cases(boolean ed25519) {
        List<Case> cases = new ArrayList<>(
                cases(SHARED, SHARED.reveal(), SigningSecret.generate().reveal()));
        if (ed25519)
            cases.addAll(cases(
                    KEY_PAIR,
                    KEY_PAIR.publicKey().orElseThrow(),
                    SigningSecret.generateEd25519().publicKey().orElseThrow()));
        return cases;
    }

    private static List<Case> cases(SigningSecret secret, String key, String otherKey) {
        String kind = key.substring(0, 5) + " ";
        Message m = sent;
        long old = Long.parseLong(m.timestamp()) - 600;
        String oldSignature =
                SigningSecret.signatures(List.of(secret), m.id(), old, m.body().getBytes(UTF_8));
        return List.of(
                new Case(kind + "as sent", key, m, true),
                new Case(kind + "changed body", key, new Message(m.id(), m.timestamp(), m.signatures(), "{}"), false),
                new Case(kind + "changed id", key, new Message("x", m.timestamp(), m.signatures(), m.body()), false),
                new Case(
                        kind + "changed time",
                        key,
                        new Message(m.id(), Long.toString(old + 601), m.signatures(), m.body()),
                        false),
                new Case(kind + "too old", key, new Message(m.id(), Long.toString(old), oldSignature, m.body()), false),
                new Case(kind + "another key", otherKey, m, false),
                new Case(kind + "no time", key, new Message(m.id(), "", m.signatures(), m.body()), false),
                new Case(
                        kind + "no signature",
                        key,
                        new Message(m.id(), m.timestamp(), "v1, v1a, v1,*** v1a,AAAA v2,AAAA", m.body()),
                        false));
    }

    private static void check(List<Case> cases, List<String> results) {
        List<String> expected =
                cases.stream().map(one -> one.name() + ": " + one.valid()).toList();
        List<String> shown = new ArrayList<>();
        for (int i = 0; i < results.size(); i++) shown.add(cases.get(i).name() + ": " + results.get(i));

        assertThat(shown).containsExactlyElementsOf(expected);
    }

    /** Writes the block with this file name to the folder. */
    private Path extract(String file) throws IOException {
        String page = SourceTree.read(SourceTree.here().root().resolve("docs/webhooks.md"));
        Matcher block = Pattern.compile("```\\w+ " + Pattern.quote(file) + "\n(.*?)```", Pattern.DOTALL)
                .matcher(page);
        if (!block.find()) fail("docs/webhooks.md has no block named " + file);
        return Files.writeString(folder.resolve(file), block.group(1));
    }

    private static Path requireOnPath(String command) {
        Path found = Stream.of(System.getenv("PATH").split(":", -1))
                .map(directory -> Path.of(directory, command))
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
        if (found == null) {
            System.out.println("VerificationRecipesTest: skipped, because there is no " + command + " on the path");
            Assumptions.abort(command + " not found");
        }
        return found;
    }

    private static List<String> run(Path interpreter, Path caller, List<Case> cases) throws Exception {
        List<String> command = new ArrayList<>(List.of(interpreter.toString(), caller.toString()));
        for (Case one : cases) {
            Message message = one.message();
            command.addAll(List.of(one.key(), message.id(), message.timestamp(), message.signatures()));
            command.add(Base64.getEncoder().encodeToString(message.body().getBytes(UTF_8)));
        }
        Ended ended = exec(command);
        assertThat(ended.status()).as(ended.output()).isZero();
        return ended.output().lines().toList();
    }

    private record Ended(int status, String output) {}

    private static Ended exec(List<String> command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), UTF_8);
        if (!process.waitFor(30, TimeUnit.SECONDS)) process.destroyForcibly();
        return new Ended(process.exitValue(), output);
    }
}
