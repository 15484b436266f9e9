package io.carillon.webhook.guard;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@SuppressWarnings("AddressSelection") // IP addresses, not names
class PublicAddressesTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "1.1.1.1",
                "8.8.8.8",
                "9.255.255.255",
                "11.0.0.0",
                "100.63.255.255",
                "100.128.0.0",
                "126.255.255.255",
                "128.0.0.0",
                "168.63.129.15",
                "168.63.129.17",
                "169.253.255.255",
                "169.255.0.0",
                "172.15.255.255",
                "172.32.0.0",
                "192.0.1.0",
                "192.0.3.0",
                "192.167.255.255",
                "192.169.0.0",
                "198.17.255.255",
                "198.20.0.0",
                "198.51.99.255",
                "203.0.114.0",
                "223.255.255.255",
                "2606:4700::1111",
                "2001:200::1",
                "2001:db7:ffff::1",
                "2001:db9::1",
                "2003::1",
                "2a00::1",
                "3fff:1000::1",
                "64:ff9b::808:808"
            })
    void the_neighbours_of_reserved_ranges_are_public(String address) throws Exception {
        assertThat(PublicAddresses.contains(InetAddress.getByName(address).getAddress()))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0.0.0.0/8",
                "10.0.0.0/8",
                "100.64.0.0/10",
                "127.0.0.0/8",
                "169.254.0.0/16",
                "172.16.0.0/12",
                "192.0.0.0/24",
                "192.0.2.0/24",
                "192.88.99.0/24",
                "192.168.0.0/16",
                "198.18.0.0/15",
                "198.51.100.0/24",
                "203.0.113.0/24",
                "224.0.0.0/4",
                "240.0.0.0/4",
                "::/96",
                "64:ff9b:1::/48",
                "100::/64",
                "2001::/23",
                "2001:db8::/32",
                "2002::/16",
                "3ffe::/16",
                "3fff::/20",
                "4000::/2",
                "8000::/1",
                "fc00::/7",
                "fe80::/10",
                "fec0::/10",
                "ff00::/8"
            })
    void no_address_of_a_reserved_range_is_public(String range) throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        byte[] first =
                InetAddress.getByName(range.substring(0, range.indexOf('/'))).getAddress();
        int bits = Integer.parseInt(range.substring(range.indexOf('/') + 1));
        for (int i = 0; i < 200; i++) {
            byte[] address = first.clone();
            for (int bit = bits; bit < first.length * 8; bit++) {
                boolean one = i == 0 ? false : i == 1 || random.nextBoolean();
                if (one) address[bit / 8] |= (byte) (0x80 >> bit % 8);
            }
            assertThat(PublicAddresses.contains(address))
                    .as("seed %d, %s", seed, InetAddress.getByAddress(address))
                    .isFalse();
        }
    }

    @Test
    void an_ipv4_address_inside_an_ipv6_one_is_judged_as_itself() throws Exception {
        byte[] mapped = new byte[16];
        mapped[10] = mapped[11] = (byte) 0xFF;
        System.arraycopy(InetAddress.getByName("127.0.0.1").getAddress(), 0, mapped, 12, 4);
        assertThat(PublicAddresses.contains(mapped)).isFalse();

        System.arraycopy(InetAddress.getByName("8.8.8.8").getAddress(), 0, mapped, 12, 4);
        assertThat(PublicAddresses.contains(mapped)).isTrue();
        assertThat(PublicAddresses.contains(new byte[5])).isFalse();
    }
}
