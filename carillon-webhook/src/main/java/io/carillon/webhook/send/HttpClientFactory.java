package io.carillon.webhook.send;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import javax.net.ssl.SSLContext;
import org.apache.hc.client5.http.DnsResolver;
import org.apache.hc.client5.http.HttpRoute;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClients;
import org.apache.hc.client5.http.impl.io.ManagedHttpClientConnectionFactory;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManagerBuilder;
import org.apache.hc.client5.http.ssl.DefaultClientTlsStrategy;
import org.apache.hc.core5.http.config.Http1Config;
import org.apache.hc.core5.pool.PoolConcurrencyPolicy;
import org.apache.hc.core5.util.TimeValue;

/**
 * Creates an HTTP client that sends a request nowhere but to the given address: no redirects, proxies, cookies,
 * credentials, retries, decompression, upgrades or name resolution. Connections are pooled by scheme, name, port and
 * address together.
 */
final class HttpClientFactory {
    private HttpClientFactory() {}

    /** Creates a client that closes connections which were idle for longer than {@code maxIdle}. */
    static CloseableHttpClient create(SSLContext tls, int maxConnections, Duration maxIdle) {
        TimeValue idle = TimeValue.of(maxIdle);
        return HttpClients.custom()
                .setConnectionManager(connections(tls, maxConnections, idle))
                // Otherwise a connection stays open until its host is called again: names that are called once would
                // use up the file descriptors of the process.
                .evictExpiredConnections()
                .evictIdleConnections(idle)
                // The host contains its checked address; proxies of the system or the JVM are not used.
                .setRoutePlanner((host, context) ->
                        new HttpRoute(host, null, host.getSchemeName().equals("https")))
                .setUserAgent("Carillon")
                .disableRedirectHandling()
                .disableAutomaticRetries()
                .disableCookieManagement()
                .disableAuthCaching()
                .disableContentCompression()
                .disableConnectionState()
                .setDefaultRequestConfig(RequestConfig.custom()
                        .setRedirectsEnabled(false)
                        .setAuthenticationEnabled(false)
                        .setContentCompressionEnabled(false)
                        .setProtocolUpgradeEnabled(false)
                        .setExpectContinueEnabled(false)
                        .build())
                .build();
    }

    private static PoolingHttpClientConnectionManager connections(SSLContext tls, int maxConnections, TimeValue idle) {
        Http1Config bounded = Http1Config.custom()
                .setMaxLineLength(16 * 1024)
                .setMaxHeaderCount(200)
                .setMaxEmptyLineCount(10)
                .build();
        return PoolingHttpClientConnectionManagerBuilder.create()
                .setConnectionFactory(ManagedHttpClientConnectionFactory.builder()
                        .http1Config(bounded)
                        .build())
                .setTlsSocketStrategy(new DefaultClientTlsStrategy(tls))
                .setDnsResolver(new RejectingResolver())
                // The lax policy would keep an entry for every host that was ever called, and ignore the maximum.
                .setPoolConcurrencyPolicy(PoolConcurrencyPolicy.STRICT)
                .setMaxConnTotal(maxConnections)
                .setMaxConnPerRoute(maxConnections)
                .setDefaultConnectionConfig(ConnectionConfig.custom()
                        .setValidateAfterInactivity(TimeValue.ofMilliseconds(200))
                        .setIdleTimeout(idle.toTimeout())
                        .setTimeToLive(TimeValue.ofMinutes(1))
                        .build())
                .build();
    }

    /** A second safeguard: a host without a checked address is not resolved. */
    private static final class RejectingResolver implements DnsResolver {
        @Override
        public InetAddress[] resolve(String host) throws UnknownHostException {
            throw new UnknownHostException(host);
        }

        @Override
        public String resolveCanonicalHostname(String host) {
            return host;
        }
    }
}
