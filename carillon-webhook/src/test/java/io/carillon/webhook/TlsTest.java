package io.carillon.webhook;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsExchange;
import com.sun.net.httpserver.HttpsServer;
import io.carillon.webhook.guard.AddressPolicy;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.ExtendedSSLSession;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The connection uses the checked address, but certificate and SNI use the host name. */
class TlsTest {
    private static final char[] PASSWORD = "changeit".toCharArray();
    private static final List<String> ASKED_FOR = new CopyOnWriteArrayList<>();
    private static HttpsServer server;
    private static SSLContext trusting;

    @BeforeAll
    static void listen(@TempDir Path folder) throws Exception {
        Path file = folder.resolve("keys.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "hooks",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=hooks.example",
                        "-ext",
                        "san=dns:hooks.example",
                        "-validity",
                        "2",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        file.toString(),
                        "-storepass",
                        new String(PASSWORD))
                .redirectErrorStream(true)
                .start();
        String said = new String(keytool.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertThat(keytool.waitFor()).as(said).isZero();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(file)) {
            keys.load(in, PASSWORD);
        }
        KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        own.init(keys, PASSWORD);
        SSLContext serving = SSLContext.getInstance("TLS");
        serving.init(own.getKeyManagers(), null, null);
        KeyStore trusted = KeyStore.getInstance("PKCS12");
        trusted.load(null, null);
        trusted.setCertificateEntry("hooks", keys.getCertificate("hooks"));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(trusted);
        trusting = SSLContext.getInstance("TLS");
        trusting.init(null, trust.getTrustManagers(), null);

        server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 10);
        server.setHttpsConfigurator(new HttpsConfigurator(serving));
        server.createContext("/", exchange -> {
            ExtendedSSLSession session = (ExtendedSSLSession) ((HttpsExchange) exchange).getSSLSession();
            ASKED_FOR.add(session.getRequestedServerNames().toString());
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
    }

    @AfterAll
    static void stop() {
        server.stop(0);
    }

    @Test
    void the_name_is_asked_for_and_checked_although_the_address_is_pinned() throws Exception {
        assertThat(sent("hooks.example", trusting).verdict()).isEqualTo(Verdict.DELIVERED);

        assertThat(ASKED_FOR).hasSize(1).allMatch(names -> names.contains("hooks.example"));
    }

    @Test
    void a_certificate_for_another_name_or_from_an_unknown_issuer_is_a_failure() throws Exception {
        int before = ASKED_FOR.size();

        assertThat(sent("other.example", trusting).note()).startsWith("TLS failed");
        assertThat(sent("hooks.example", SSLContext.getDefault()).note()).startsWith("TLS failed");
        assertThat(ASKED_FOR).hasSize(before);
    }

    private static Delivery sent(String host, SSLContext tls) throws InterruptedException {
        int port = server.getAddress().getPort();
        try (Webhooks webhooks = Webhooks.builder()
                .addressPolicy(AddressPolicy.defaults().allow(host + ":" + port))
                .resolver(name -> new InetAddress[] {InetAddress.getLoopbackAddress()})
                .tls(tls)
                .build()) {
            return webhooks.test("default", WebhookTarget.post("https://" + host + ":" + port + "/"));
        }
    }
}
