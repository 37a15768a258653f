// Asks the real Cassandra for the replicas of every token of the clusters on standard input, without
// a running node: its TokenMetadata is filled by hand, its strategies are called directly.
//
// In, one cluster after the other:
//   node DATACENTER RACK TOKEN...     the i-th line is node i
//   simple N | topology DATACENTER=N...
// Out, one line a cluster: for each of its tokens, in order, "index,index,..."; blanks between.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.dht.Murmur3Partitioner;
import org.apache.cassandra.dht.Token;
import org.apache.cassandra.locator.AbstractNetworkTopologySnitch;
import org.apache.cassandra.locator.AbstractReplicationStrategy;
import org.apache.cassandra.locator.InetAddressAndPort;
import org.apache.cassandra.locator.NetworkTopologyStrategy;
import org.apache.cassandra.locator.Replica;
import org.apache.cassandra.locator.SimpleStrategy;
import org.apache.cassandra.locator.TokenMetadata;

public class Replicas {
  static final class Sites extends AbstractNetworkTopologySnitch {
    final Map<InetAddressAndPort, String[]> sites = new HashMap<>();

    @Override
    public String getRack(InetAddressAndPort node) {
      return sites.get(node)[1];
    }

    @Override
    public String getDatacenter(InetAddressAndPort node) {
      return sites.get(node)[0];
    }
  }

  Sites sites = new Sites();
  TokenMetadata metadata = new TokenMetadata(sites);
  List<InetAddressAndPort> nodes = new ArrayList<>();

  void add(String[] words) throws Exception {
    int index = nodes.size();
    InetAddressAndPort node =
        InetAddressAndPort.getByName("10.0." + index / 250 + "." + (index % 250 + 1));
    nodes.add(node);
    sites.sites.put(node, new String[] {words[1], words[2]});
    List<Token> tokens = new ArrayList<>();
    for (int i = 3; i < words.length; ++i) {
      tokens.add(new Murmur3Partitioner.LongToken(Long.parseLong(words[i])));
    }
    metadata.updateNormalTokens(tokens, node); // all at once: a second call takes the first back
  }

  AbstractReplicationStrategy strategy(String[] words) {
    Map<String, String> options = new HashMap<>();
    if (words[0].equals("simple")) {
      options.put("replication_factor", words[1]);
      return new SimpleStrategy("ks", metadata, sites, options);
    }
    for (int i = 1; i < words.length; ++i) {
      String[] pair = words[i].split("=");
      options.put(pair[0], pair[1]);
    }
    return new NetworkTopologyStrategy("ks", metadata, sites, options);
  }

  String replicas(AbstractReplicationStrategy strategy) {
    StringJoiner all = new StringJoiner(" ");
    for (Token token : metadata.sortedTokens()) {
      StringJoiner one = new StringJoiner(",");
      for (Replica replica : strategy.calculateNaturalReplicas(token, metadata)) {
        one.add(Integer.toString(nodes.indexOf(replica.endpoint())));
      }
      all.add(one.toString());
    }
    return all.toString();
  }

  public static void main(String[] arguments) throws Exception {
    DatabaseDescriptor.clientInitialization();
    DatabaseDescriptor.setPartitionerUnsafe(Murmur3Partitioner.instance);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"));
    Replicas cluster = new Replicas();
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      String[] words = line.split(" ");
      if (words[0].equals("node")) {
        cluster.add(words);
        continue;
      }
      System.out.println(cluster.replicas(cluster.strategy(words)));
      cluster = new Replicas();
    }
    System.exit(0);
  }
}
